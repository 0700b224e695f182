"""The documentation site: `make docs` writes it to results/site, complete offline."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

(HERE / "generated" / "extra").mkdir(parents=True, exist_ok=True)  # Sphinx looks for it before it is filled

import pliant  # noqa: E402

project, author, copyright = "pliant", "The pliant authors", "The pliant authors, Apache-2.0"
version = release = pliant.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design", "sphinx_copybutton", "mathml", "pages"]
root_doc = "index"
exclude_patterns = ["_ext"]
suppress_warnings = ["myst.xref_missing", "ref.python"]

myst_enable_extensions = ["dollarmath", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_title_to_header = True

html_theme = "pydata_sphinx_theme"
html_title = "pliant"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = ["generated/extra"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 8,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": []}

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
maximum_signature_line_length = 90
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"
copybutton_exclude = ".linenos, .gp"
