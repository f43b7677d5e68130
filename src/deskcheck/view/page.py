"""One self-contained HTML file: a script built from `web/`, its style, and data.

Contents of recordings, notebooks and models are never HTML: they are deflated JSON in base64, and the script
writes them as text. The Content-Security-Policy allows only the scripts whose digests it names, and no
request.
"""

import base64
import hashlib
import html
import json
import secrets
import zlib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _static(name: str) -> str:
    return files("deskcheck.view").joinpath("static", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The digest of a script in a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def head(
    kind: str,
    title: str,
    *,
    bundle: str = "trace",
    store: str = "page",
    connect: str = "'none'",
    images: str = "'none'",
    packed: bool = False,
) -> str:
    """The page up to its data.

    kind: the page that the script shows. connect, images: allowed sources. packed: as in `tail`.
    """
    script, style = _static(f"{bundle}.js"), _static(f"{bundle}.css")
    nonce = secrets.token_urlsafe(16)  # for the styles that the script adds while it runs
    scripts = " ".join(map(_digest, [_UNPACK, script] if packed else [script]))
    policy = (
        f"default-src 'none'; script-src {scripts}; style-src 'nonce-{nonce}'; img-src {images}; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'; object-src 'none'"
    )
    return f"""<!doctype html>
<html lang="en" data-page="{kind}" data-store="{store}"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(visible(title))}</title><style nonce="{nonce}">{style}</style></head>
<body><div id="page"><p class="loading">{_LOADING}</p></div>
"""


_LOADING = (
    "The page is being read. If this text stays, the file is damaged (make it again), or the browser does "
    "not run JavaScript."
)


def part(name: str, data: bytes) -> str:
    """Data under a name."""
    packed = base64.b64encode(zlib.compress(data, 9)).decode("ascii")
    return f'<script type="text/plain" id="{name}">{packed}</script>\n'


_UNPACK = (
    '(async()=>{const t=document.getElementById("script").textContent.trim(),'
    "b=Uint8Array.from(atob(t),c=>c.charCodeAt(0)),"
    's=new Blob([b]).stream().pipeThrough(new DecompressionStream("deflate")),'
    'e=document.createElement("script");'
    "e.textContent=await new Response(s).text();document.body.append(e)})()"
)
"""Runs the deflated script of the page."""


@cache
def _packed(bundle: str) -> str:
    return part("script", _static(f"{bundle}.js").encode())


def tail(bundle: str = "trace", *, packed: bool = False) -> str:
    """The page after its data. packed: whether the script is deflated, to a third of its size."""
    if packed:
        return f"{_packed(bundle)}<script>{_UNPACK}</script></body></html>\n"
    return f"<script>{_static(f'{bundle}.js')}</script></body></html>\n"


def page_of(
    kind: str,
    title: str,
    facts: Any,
    *,
    bundle: str = "trace",
    images: str = "'none'",
    packed: bool = False,
) -> str:
    """A whole page whose data is one JSON value. packed: as in `tail`."""
    data = json.dumps(facts).encode("ascii")
    begun = head(kind, title, bundle=bundle, images=images, packed=packed)
    return begun + part("facts", data) + tail(bundle, packed=packed)


def visible(text: str, *, lines: bool = False) -> str:
    """The text with escapes for characters that do not print. If `lines`, line ends are kept."""
    unescaped = "\n" if lines else ""
    return "".join(
        c if c.isprintable() or c in unescaped else c.encode("unicode_escape").decode() for c in text
    )
