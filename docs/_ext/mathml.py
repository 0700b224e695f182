"""Equations as MathML, made while the site is built: no script, no font, nothing from a network."""

from __future__ import annotations

from typing import Any

from latex2mathml.converter import convert


def inline(self: Any, node: Any) -> None:
    """An equation in a line."""
    self.body.append(convert(node.astext(), display="inline"))


def block(self: Any, node: Any) -> None:
    """An equation on a line of its own."""
    self.body.append(f'<div class="equation">{convert(node.astext(), display="block")}</div>')


def nothing(self: Any, node: Any) -> None:
    """An equation's text is not visited again."""


def _visit(draw: Any) -> Any:
    from docutils.nodes import SkipNode

    def visit(self: Any, node: Any) -> None:
        draw(self, node)
        raise SkipNode

    return visit


def setup(app: Any) -> dict[str, Any]:
    """Register the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_visit(inline), nothing), (_visit(block), nothing))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
