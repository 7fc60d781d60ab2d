"""Every error this server raises on purpose, with whose fault it is and whether a retry helps.

One tree, one place: the REST edge turns it into problem documents (RFC 9457), the command line into one line on
stderr. `code` is stable and part of the public API; `field` names the input that has to change, where one has to.
"""

from __future__ import annotations


class MemgraphServerError(Exception):
    """Base of all; `status` is the HTTP status the REST edge answers with."""

    code = "internal"
    status = 500
    fault = "server"
    retry = False
    #: Seconds to wait before a retry, or None where waiting does not help.
    retry_after: int | None = None

    def __init__(self, message: str, *, field: str | None = None, where: str = "") -> None:
        """`where`: a file or address of this machine, for its operator: it is part of `str(error)`, which the log and
        the command line show, and not of `message`, which callers are answered with."""
        super().__init__(f"{message} [{where}]" if where else message)
        self.message = message
        self.field = field
        self.where = where


class InvalidInput(MemgraphServerError):
    """The caller sent something that can never work; the message says what to send instead."""

    code = "invalid_input"
    status = 422
    fault = "caller"


class NotFound(MemgraphServerError):
    code = "not_found"
    status = 404
    fault = "caller"


class Conflict(MemgraphServerError):
    """An id that is known already came with other content; nothing was changed."""

    code = "conflict"
    status = 409
    fault = "caller"


class TooLarge(MemgraphServerError):
    code = "too_large"
    status = 413
    fault = "caller"


class Unauthorized(MemgraphServerError):
    code = "unauthorized"
    status = 401
    fault = "caller"


class Forbidden(MemgraphServerError):
    code = "forbidden"
    status = 403
    fault = "caller"


class OverQuota(MemgraphServerError):
    code = "over_quota"
    status = 429
    fault = "caller"
    retry = True
    retry_after = 1


class StoreUnavailable(MemgraphServerError):
    """The store cannot serve now (locked, disk full, read-only, gone); nothing was half-written."""

    code = "store_unavailable"
    status = 503
    fault = "store"
    retry = True
    retry_after: int | None = 2


class StoreCorrupt(StoreUnavailable):
    """The store's content cannot be trusted; a retry does not help, a restored backup does."""

    code = "store_corrupt"
    retry = False
    retry_after = None


class SchemaMismatch(StoreUnavailable):
    """The store's schema is older or newer than this program's; the message says which command to run."""

    code = "schema_mismatch"
    retry = False
    retry_after = None


class ModelUnavailable(MemgraphServerError):
    """A model (embedder, extractor, language model) cannot be used; turns stay pending."""

    code = "model_unavailable"
    status = 503
    fault = "model"
    retry = True
    retry_after: int | None = 5


class UnusableReply(MemgraphServerError):
    """A model answered, but with nothing that can be used (a refusal, no text, no JSON); that one turn failed."""

    code = "unusable_reply"
    status = 502
    fault = "model"
    retry = True
    retry_after = 5
