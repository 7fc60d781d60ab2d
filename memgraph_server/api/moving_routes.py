"""A namespace as a file, out of the server and into it: for operators, since it is all there is, and all at once."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response, StreamingResponse

from memgraph_server.actions import move
from memgraph_server.api.answers import ImportedOut
from memgraph_server.api.dependencies import Has, Operable

router = APIRouter(prefix="/v1/namespaces/{ns}", tags=["operations"])

MEDIA_TYPE = "application/jsonl"
_LINES: dict[str, Any] = {
    "required": True,
    "content": {MEDIA_TYPE: {"schema": {"type": "string", "description": "what export answered"}}},
}
#: Bytes of an export that are kept in memory; more go to a file that has no name.
_IN_MEMORY = 8 * 1024 * 1024
_CHUNK = 256 * 1024


@router.get(
    "/export",
    summary="The namespace as JSON Lines",
    response_class=StreamingResponse,
    responses={200: {"description": "one record a line", "content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}},
)
def export(ns: Operable, services: Has) -> Response:
    """Every turn, claim, belief and id, with both clocks and the vectors.

    It is complete before the first byte is sent: a fault is a problem document and never half a file, and a slow caller
    keeps nobody waiting but itself.
    """
    file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it is sent
    try:
        with closing(move.export(services.store, [ns])) as lines:
            file.writelines(lines)
    except BaseException:
        file.close()
        raise
    headers = {"Content-Length": str(file.tell())}
    return StreamingResponse(_chunks(file), media_type=MEDIA_TYPE, headers=headers)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while chunk := file.read(_CHUNK):
            yield chunk


async def _body(request: Request) -> bytes:
    return await request.body()


@router.post("/import", summary="Load what export answered", openapi_extra={"requestBody": _LINES})
def import_(ns: Operable, services: Has, body: Annotated[bytes, Depends(_body)]) -> ImportedOut:
    """Into a namespace that is empty: ids, both clocks and vectors as they were.

    All lines are verified before the first is stored (422 names line and field); 409 where the namespace has other
    content; the same content a second time changes nothing. Larger files than a body may be are imported by the
    command line.
    """
    moved = move.bring_in_one(services.store, ns, lambda: io.BytesIO(body))
    return ImportedOut(namespace=ns, new=moved.new, counts=moved.counts)
