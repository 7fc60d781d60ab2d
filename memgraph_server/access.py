"""API keys: who may do what in which namespaces.

Rules:
- a key is `mgs_<id>_<secret>` with 256 random bits of secret; only SHA-256 of the secret is kept (nothing slower is
  needed for a secret that cannot be guessed), and it is compared in constant time;
- a key is bound to exact namespaces, or to `*`, and to a role: a reader asks, a writer also stores and corrects, an
  operator also erases; metrics are of all namespaces, and need a key for `*`;
- keys live in one JSON file (mode 0600, replaced as a whole), read again when it changes: a revoked key is refused at
  once, in every process, whatever store is behind;
- once the file exists access is checked, even where all keys are revoked; without it, the server listens on loopback
  only.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

from memgraph_server.errors import Forbidden, InvalidInput, NotFound, StoreUnavailable, Unauthorized

log = logging.getLogger(__name__)

_KEY = re.compile(r"mgs_([0-9a-f]{8})_([A-Za-z0-9_-]{43})", re.ASCII)
EVERYWHERE = "*"


class Role(StrEnum):
    READER = "reader"
    WRITER = "writer"
    OPERATOR = "operator"

    def includes(self, needed: Role) -> bool:
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(needed)


@dataclass(frozen=True, slots=True)
class Key:
    """What is kept of a key; `secret_sha256` in hexadecimal."""

    id: str
    secret_sha256: str
    namespaces: tuple[str, ...]
    role: Role
    label: str = ""
    created_at: str = ""
    revoked_at: str | None = None

    def covers(self, namespace: str) -> bool:
        return EVERYWHERE in self.namespaces or namespace in self.namespaces

    def require_everywhere(self) -> None:
        """Raises Forbidden for a key of some namespaces: what is counted over all of them is not theirs to see."""
        if EVERYWHERE not in self.namespaces:
            raise Forbidden("this tells of all namespaces; use a key that was made with --namespace '*'")


def new_key(namespaces: Sequence[str], role: Role, label: str, created_at: str) -> tuple[str, Key]:
    """The key itself, to be shown once, and what is kept of it."""
    if not namespaces:
        raise InvalidInput("a key needs at least one namespace, or * for all", field="namespace")
    key_id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
    return f"mgs_{key_id}_{secret}", Key(key_id, _sha256(secret), tuple(namespaces), role, label, created_at)


def _sha256(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class KeyFile:
    """The keys of one file. Thread-safe; an absent file means that access is not checked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._unreadable: str | None = None  # as it was last logged
        self._keys: dict[str, Key] = {}

    def exists(self) -> bool:
        """Whether access is checked. A path that cannot be looked at may lead to keys: then it is."""
        try:
            self.path.stat()
        except FileNotFoundError:
            return False
        except OSError:
            return True
        return True

    def open_to_others(self) -> bool:
        """Whether the file's mode lets others than its owner and group read it, or the group change it; False where
        there is none, or it cannot be looked at. A group may read it: that is how a container platform hands a secret
        to a user without rights."""
        try:
            return bool(self.path.stat().st_mode & 0o027)
        except OSError:
            return False

    def state(self) -> str:
        """ "none" where access is not checked, "ok", or "unreadable", where nobody is let in."""
        try:
            self.keys()
        except StoreUnavailable:
            return "unreadable"
        return "ok" if self.exists() else "none"

    def keys(self) -> dict[str, Key]:
        """By id. Raises StoreUnavailable where the file cannot be read: nobody is let in then, and the log says so
        once."""
        with self._lock:
            try:
                state = self.path.stat()
                stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
                if stamp != self._stamp:
                    self._keys, self._stamp = _parsed(self.path.read_text("utf-8")), stamp
            except FileNotFoundError:
                self._keys, self._stamp = {}, None
            except (OSError, ValueError, KeyError, TypeError) as error:
                why = f"the key file cannot be read ({type(error).__name__})"
                if self._unreadable != why:
                    log.error("%s: every request but health is refused until %s is mended", why, self.path)
                self._unreadable = why
                raise StoreUnavailable(why, where=str(self.path)) from None
            self._unreadable = None
            return dict(self._keys)

    def add(self, key: Key) -> None:
        self._write({**self.keys(), key.id: key})

    def revoke(self, key_id: str, at: str) -> Key:
        keys = self.keys()
        if key_id not in keys:
            raise NotFound(f"no key has the id {key_id!r}", field="id")
        revoked = keys[key_id] if keys[key_id].revoked_at else replace(keys[key_id], revoked_at=at)
        self._write({**keys, key_id: revoked})
        return revoked

    def _write(self, keys: dict[str, Key]) -> None:
        text = json.dumps({"keys": [asdict(key) for key in keys.values()]}, indent=1)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".keys-")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def authenticate(self, presented: str | None) -> Key:
        """The key that was presented. Raises Unauthorized, in the same words whatever was wrong with it."""
        match = _KEY.fullmatch(presented or "")
        key = self.keys().get(match[1]) if match else None
        expected = key.secret_sha256 if key else _sha256("")
        same = hmac.compare_digest(expected, _sha256(match[2] if match else "-"))
        if key is None or not same or key.revoked_at is not None:
            raise Unauthorized("send a valid key as 'Authorization: Bearer mgs_…'")
        return key


def _parsed(text: str) -> dict[str, Key]:
    records = json.loads(text)["keys"]
    keys = [Key(**{**one, "role": Role(one["role"]), "namespaces": tuple(one["namespaces"])}) for one in records]
    return {key.id: key for key in keys}


def permit(key: Key, needed: Role, namespace: str | None) -> None:
    """Raises Forbidden; the same words whether the namespace exists or not."""
    if namespace is not None and not key.covers(namespace):
        raise Forbidden("this key is not for this namespace", field="namespace")
    if not key.role.includes(needed):
        raise Forbidden(f"this needs a key with the role {needed}, this one's is {key.role}")
