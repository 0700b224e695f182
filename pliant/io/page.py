"""A web page in one file: headings, tables, figures. No scripts, nothing fetched."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1d242c; --soft: #5d6875; --line: #dde2e7; --paper: #fbfcfd; --card: #ffffff;
  --good: #1d7a55; --bad: #b3261e; --accent: #c2521f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e5e9ee; --soft: #97a3b0; --line: #303943; --paper: #14181d;
  --card: #1b2127; --good: #59c795; --bad: #ff8a80; --accent: #f0935c; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 64rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 2rem; line-height: 1.15; margin: 0 0 .35rem; letter-spacing: -.015em; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .7rem; }
p.lead { color: var(--soft); margin: 0 0 1.2rem; max-width: 46rem; }
p.status { border-left: 3px solid var(--good); padding: .1rem 0 .1rem .9rem; margin: 1.2rem 0; max-width: 46rem; }
p.status.bad { border-color: var(--bad); color: var(--bad); }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; min-width: 0; }
figure.photo { background: #ffffff; text-align: center; }
figure img { max-width: 100%; height: auto; }
figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .87rem; margin-top: .5rem; text-align: left; }
.photo figcaption { color: #5d6875; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1rem; margin-top: 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .94rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .42rem .9rem .42rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.number { text-align: right; white-space: nowrap; }
th.number { text-align: right; }
meter { width: 100%; min-width: 6rem; height: .7rem; }
a { color: var(--accent); }
footer { color: var(--soft); font-size: .87rem; margin-top: 3rem; }
"""


def page(title: str, parts: Sequence[str]) -> str:
    """The whole document."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def heading(text: str, level: int = 2) -> str:
    """A heading."""
    return f"<h{level}>{escape(text)}</h{level}>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; `kind` is a class of the style sheet."""
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """A table of text cells; columns in `numbers` are aligned right. A cell that begins with '<' is markup."""
    mark = ['class="number"' if k in numbers else "" for k in range(len(columns))]
    head = "".join(f"<th {m}>{escape(c)}</th>" for c, m in zip(columns, mark))
    body = "".join(
        "<tr>" + "".join(f"<td {m}>{_cell(c)}</td>" for c, m in zip(row, mark)) + "</tr>" for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def photo(data: str, caption: str) -> str:
    """A PNG given in base64, on white."""
    image = f'<img src="data:image/png;base64,{data}" alt="{escape(caption)}">'
    return f'<figure class="photo">{image}<figcaption>{escape(caption)}</figcaption></figure>'


def drawing(svg: str, caption: str) -> str:
    """An SVG in the colours of the page."""
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def side_by_side(parts: Sequence[str]) -> str:
    """Figures beside each other where there is room."""
    return f'<div class="pair">{"".join(parts)}</div>'


def meter(share: float) -> str:
    """A bar from 0 to 1."""
    return f'<meter min="0" max="1" value="{share:.3f}">{share:.0%}</meter>'


def _cell(text: str) -> str:
    return text if text.startswith("<") else escape(text)
