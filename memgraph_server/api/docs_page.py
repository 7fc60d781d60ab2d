"""`/docs`: the API as a page, drawn from `/openapi.json` by a script of our own.

The usual page loads its script from a public host, which fails without network and tells that host who is reading; this
one is a file of the package.
"""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter
from starlette.responses import HTMLResponse, Response

router = APIRouter()

_HEADERS = {"Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            "connect-src 'self'; form-action 'none'; frame-ancestors 'none'"}  # fmt: skip


@router.get("/docs", include_in_schema=False)
def docs() -> Response:
    page = (resources.files("memgraph_server.api") / "docs.html").read_text("utf-8")
    return HTMLResponse(page, headers=_HEADERS)
