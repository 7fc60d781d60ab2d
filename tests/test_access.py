"""Keys: shown once, kept as hashes, refused as soon as they are revoked."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from memgraph_server import access
from memgraph_server.access import KeyFile, Role
from memgraph_server.errors import Forbidden, NotFound, StoreUnavailable, Unauthorized


def _created(file: KeyFile, *namespaces: str, role: Role = Role.READER) -> tuple[str, access.Key]:
    secret, key = access.new_key(namespaces, role, "for a test", "2024-01-01T00:00:00Z")
    file.add(key)
    return secret, key


def test_a_key_that_was_created_is_let_in(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    secret, key = _created(file, "ann")
    assert KeyFile(file.path).authenticate(secret) == key


def test_the_file_holds_no_secret_and_is_for_its_owner_only(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    secret, _ = _created(file, "ann")
    assert secret.split("_", 2)[2] not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_anything_else_is_refused_in_the_same_words(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    secret, _ = _created(file, "ann")
    words = set()
    for wrong in [None, "", "x", secret[:-1], secret + "x", secret[:-1] + ("A" if secret[-1] != "A" else "B"),
                  secret.replace(secret[4:12], "00000000"), "ключ", "mgs_\ud800"]:  # fmt: skip
        with pytest.raises(Unauthorized) as caught:
            file.authenticate(wrong)
        words.add(caught.value.message)
    assert len(words) == 1


def test_a_revoked_key_is_refused_at_once_by_whoever_has_the_file_open(tmp_path: Path) -> None:
    file, other = KeyFile(tmp_path / "keys.json"), KeyFile(tmp_path / "keys.json")
    secret, key = _created(file, "ann")
    assert other.authenticate(secret).id == key.id
    file.revoke(key.id, "2024-02-01T00:00:00Z")
    with pytest.raises(Unauthorized):
        other.authenticate(secret)


def test_revoking_twice_keeps_the_first_time_and_an_unknown_key_is_not_found(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    _, key = _created(file, "ann")
    file.revoke(key.id, "2024-02-01T00:00:00Z")
    assert file.revoke(key.id, "2025-01-01T00:00:00Z").revoked_at == "2024-02-01T00:00:00Z"
    with pytest.raises(NotFound):
        file.revoke("00000000", "2024-02-01T00:00:00Z")


def test_a_damaged_key_file_lets_nobody_in(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "keys.json")
    secret, _ = _created(file, "ann")
    file.path.write_text("{")
    with pytest.raises(StoreUnavailable):
        file.authenticate(secret)


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("needed", list(Role))
def test_a_role_includes_the_smaller_ones(role: Role, needed: Role, tmp_path: Path) -> None:
    _, key = access.new_key(["ann"], role, "", "")
    allowed = list(Role).index(role) >= list(Role).index(needed)
    if allowed:
        access.permit(key, needed, "ann")
    else:
        with pytest.raises(Forbidden):
            access.permit(key, needed, "ann")


@pytest.mark.parametrize("namespace", ["Ann", "ann ", "ann2", "an", "*"])
def test_a_key_is_for_exactly_its_namespaces(namespace: str) -> None:
    _, key = access.new_key(["ann", "bob"], Role.OPERATOR, "", "")
    access.permit(key, Role.READER, "bob")
    with pytest.raises(Forbidden):
        access.permit(key, Role.READER, namespace)


def test_a_key_for_everywhere_is_for_every_namespace() -> None:
    _, key = access.new_key(["*"], Role.READER, "", "")
    access.permit(key, Role.READER, "anybody")


def test_a_path_that_cannot_be_looked_at_lets_nobody_in(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    keys = KeyFile(tmp_path / "file" / "keys.json")  # its folder is a file
    assert keys.exists()
    assert keys.state() == "unreadable"
    absent = KeyFile(tmp_path / "keys.json")
    assert not absent.exists()
    assert absent.state() == "none"
