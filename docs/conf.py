"""Settings of Sphinx. `make docs` builds the site; tools/docs writes the pages that are generated."""

import typing
from importlib.metadata import version as installed
from typing import Any

project = "deskcheck"
author = "The deskcheck contributors"
version = release = installed("deskcheck")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
nitpicky = False  # types of private modules have no page of their own
highlight_language = "text"

myst_heading_anchors = 3

default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
add_module_names = False

# Nothing is loaded from elsewhere: the site works from a folder, without a network.
html_theme = "furo"
html_title = f"deskcheck {release}"
html_show_sourcelink = False
html_show_copyright = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "tango"
pygments_dark_style = "github-dark"


def _bare(annotation: Any) -> Any:
    """A type without what the command line says of it."""
    return typing.get_args(annotation)[0] if typing.get_origin(annotation) is typing.Annotated else annotation


def _without_options(app: Any, obj: Any, bound_method: bool) -> None:
    told = getattr(obj, "__annotations__", {})
    for name, annotation in list(told.items()):
        told[name] = _bare(annotation)


def setup(app: Any) -> None:
    app.connect("autodoc-before-process-signature", _without_options)
