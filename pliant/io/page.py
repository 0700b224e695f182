"""A web page in one file: headings, tables, figures; and what a notebook shows in a cell. Nothing is fetched.

This is the one place that makes HTML. Its functions return `Markup`; whatever else is `str` is text, and is
escaped where it goes in.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from pliant.io.characters import visible
from pliant.io.policy import policy


class Markup(str):
    """HTML, as only this file makes it. Joined with other text it is a `str` again, which will be escaped."""

    __slots__ = ()


INK = "#123456"  # a colour that stands for that of the page's text in a drawing, put in afterwards
EMPTY = ("img", "input", "meta")  # elements that hold nothing and are not closed
STYLE = Markup("""
:root { color-scheme: light dark; --ink: #1d242c; --soft: #5d6875; --line: #dde2e7; --paper: #fbfcfd;
  --card: #ffffff; --good: #1d7a55; --bad: #b3261e; --accent: #c2521f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e9ee; --soft: #97a3b0; --line: #303943;
  --paper: #14181d; --card: #1b2127; --good: #59c795; --bad: #ff8a80; --accent: #f0935c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.15; margin: 0 0 .35rem; letter-spacing: -.015em; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .7rem; }
h3 { font-size: 1rem; }
p.lead { color: var(--soft); margin: 0 0 1.2rem; max-width: 46rem; }
p.status { border-left: 3px solid var(--good); padding: .1rem 0 .1rem .9rem; margin: 1.2rem 0;
  max-width: 46rem; }
p.status.bad { border-color: var(--bad); color: var(--bad); }
b.bad { color: var(--bad); }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 1rem; min-width: 0; }
figure.photo { background: #ffffff; text-align: center; }
figure img { max-width: 100%; height: auto; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .87rem; margin-top: .5rem; text-align: left; }
.photo figcaption { color: #5d6875; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem;
  margin-top: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .94rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .42rem .9rem .42rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.number { text-align: right; white-space: nowrap; }
th.number { text-align: right; }
meter { width: 100%; min-width: 6rem; height: .7rem; }
a { color: var(--accent); }
footer { color: var(--soft); font-size: .87rem; margin-top: 3rem; }
""")
CELL_STYLE = Markup("""
html, body { margin: 0; height: 100%; font: 13px system-ui; color: #8893a0; overflow: hidden; }
canvas { width: 100%; height: calc(100% - 30px); touch-action: none; cursor: grab; display: block; }
p { margin: 0; height: 30px; display: flex; gap: 8px; align-items: center; padding: 0 8px;
  white-space: nowrap; }
""")


def element(tag: str, attributes: Mapping[str, str], *inside: str) -> Markup:
    """An element of a page; values of attributes, and all that is inside and no markup, are escaped."""
    marks = "".join(f' {name}="{_escaped(value)}"' for name, value in attributes.items())
    return Markup(f"<{tag}{marks}>" if tag in EMPTY else f"<{tag}{marks}>{_joined(inside)}</{tag}>")


def page(title: str, parts: Sequence[str]) -> Markup:
    """The whole document, under a policy that lets no script run."""
    head = (
        element("meta", {"charset": "utf-8"}),
        restriction(policy()),
        element("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        element("title", {}, title),
        element("style", {}, STYLE),
    )
    main = element("main", {}, _joined(parts, "\n"))
    whole = element(
        "html", {"lang": "en"}, element("head", {}, _joined(head, "\n")), element("body", {}, main)
    )
    return Markup(f"<!doctype html>\n{whole}\n")


def drawn_by(script: str, data: Mapping[str, bytes], words: str) -> Markup:
    """A document that a script of ours draws, from data by name: a canvas, and a line with buttons and words.

    The script is put in as it is, and no other may run. The data are base64, in elements that nobody runs.
    """
    head = (
        element("meta", {"charset": "utf-8"}),
        restriction(policy([script])),
        element("style", {}, CELL_STYLE),
    )
    slider = element("input", {"type": "range", "value": "0", "min": "0"})
    line = element("p", {}, element("button", {}, "▶"), slider, element("span", {}, words))
    held = [
        element("script", {"type": "application/octet-stream", "id": name}, base64.b64encode(value).decode())
        for name, value in data.items()
    ]
    parts = (*head, element("canvas", {}), line, *held, element("script", {}, Markup(script)))
    return Markup(f"<!doctype html>{_joined(parts)}")


def framed(document: Markup, height: int) -> Markup:
    """A document in a frame of its own, `height` pixels tall, that knows nothing of the page around it."""
    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"
    return element("iframe", {"style": style, "sandbox": "allow-scripts", "srcdoc": document})


def window(url: str, height: int) -> Markup:
    """A frame that shows a page of a server, `height` pixels tall."""
    return element("iframe", {"style": f"width:100%;height:{height}px;border:0", "src": url})


def restriction(rules: str) -> Markup:
    """A content security policy, for the head of a page."""
    return element("meta", {"http-equiv": "Content-Security-Policy", "content": rules})


def heading(text: str, level: int = 2) -> Markup:
    """A heading."""
    return element(f"h{level}", {}, text)


def paragraph(text: str, kind: str = "") -> Markup:
    """A paragraph; `kind` is a class of the style sheet."""
    return element("p", {"class": kind} if kind else {}, text)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> Markup:
    """A table; columns in `numbers` are aligned right."""
    marks = [{"class": "number"} if k in numbers else {} for k in range(len(columns))]
    line = lambda tag, cells: element("tr", {}, *(element(tag, m, c) for c, m in zip(cells, marks)))
    head = element("thead", {}, line("th", columns))
    body = element("tbody", {}, *(line("td", row) for row in rows))
    return element("div", {"class": "scroll"}, element("table", {}, head, body))


def listed(items: Sequence[str]) -> Markup:
    """A list, an item a line."""
    return element("ul", {}, *(element("li", {}, item) for item in items))


def photo(png: bytes, caption: str) -> Markup:
    """A PNG on white."""
    data = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    image = element("img", {"src": data, "alt": caption})
    return element("figure", {"class": "photo"}, image, element("figcaption", {}, caption))


def drawing(svg: Markup, caption: str) -> Markup:
    """An SVG in the colours of the page."""
    return element("figure", {}, svg, element("figcaption", {}, caption))


def svg(figure: Any) -> Markup:
    """A Matplotlib figure as SVG; what is drawn in `INK` takes the colour of the page's text.

    Matplotlib escapes the texts in it, but would read a name with dollars as a formula, and write control
    codes that no SVG may hold.
    """
    import matplotlib
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        text.set_parse_math(False)
        text.set_text(visible(text.get_text()))
    buffer = io.StringIO()
    with matplotlib.rc_context(
        {"svg.fonttype": "none", "font.family": "sans-serif", "svg.hashsalt": "pliant"}
    ):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = re.sub(r"<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)
    return Markup(text.replace(INK, "currentColor"))


def side_by_side(parts: Sequence[str]) -> Markup:
    """Figures beside each other where there is room."""
    return element("div", {"class": "pair"}, *parts)


def meter(share: float) -> Markup:
    """A bar from 0 to 1."""
    return element("meter", {"min": "0", "max": "1", "value": f"{share:.3f}"}, f"{share:.0%}")


def alarm(text: str) -> Markup:
    """A word that must not be overlooked."""
    return element("b", {"class": "bad"}, text)


def link(name: str) -> Markup:
    """A file beside the page, by its name."""
    return element("a", {"href": quote(name)}, name)


def together(parts: Sequence[str]) -> Markup:
    """Parts one below the other."""
    return _joined(parts, "\n")


def footer(*parts: str) -> Markup:
    """The last lines of a page."""
    return element("footer", {}, *parts)


def _joined(parts: Iterable[str], between: str = "") -> Markup:
    return Markup(between.join(part if isinstance(part, Markup) else _escaped(part) for part in parts))


def _escaped(text: str) -> str:
    return escape(visible(text))
