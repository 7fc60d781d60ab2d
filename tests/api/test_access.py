"""Who may do what over HTTP, with keys and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from memgraph_server import access
from memgraph_server.access import KeyFile, Role
from memgraph_server.command_line.serving import check_access
from memgraph_server.errors import InvalidInput
from memgraph_server.settings import Settings
from tests.api.serving import Running, assert_problem, running

TURNS = {"session_id": "s", "turns": [{"id": "t1", "text": "hello", "at": "2024-05-08T12:00:00Z"}]}
CLAIMS = {"assertions": [{"head": "Ann", "relation": "likes", "tail": "tea"}]}

#: What each role may do: method, path, body, the smallest role.
ROUTES: list[tuple[str, str, Any, Role]] = [
    ("GET", "/facts", None, Role.READER),
    ("GET", "/timeline?name=Ann", None, Role.READER),
    ("GET", "/entities", None, Role.READER),
    ("GET", "/turns/t1", None, Role.READER),
    ("POST", "/turns/fetch", {"ids": ["t1"]}, Role.READER),
    ("POST", "/turns", TURNS, Role.WRITER),
    ("POST", "/assertions", CLAIMS, Role.WRITER),
    ("POST", "/assertions/x/retract", None, Role.WRITER),
    ("POST", "/facts/x/retract", None, Role.WRITER),
    ("POST", "/entities/x/merge", {"into": "y"}, Role.WRITER),
    ("POST", "/entities/x/unmerge", None, Role.WRITER),
    ("DELETE", "", None, Role.OPERATOR),
]


def key_of(server: Running, role: Role, *namespaces: str) -> dict[str, str]:
    """The header that presents a new key."""
    secret, key = access.new_key(namespaces, role, "", "")
    KeyFile(server.services.settings.keys_path).add(key)
    return {"Authorization": f"Bearer {secret}"}


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running(tmp_path_factory.mktemp("locked"), worker=False) as server:
        key_of(server, Role.OPERATOR, "*")
        yield server


@pytest.mark.parametrize(("method", "path", "body", "needed"), ROUTES, ids=lambda part: str(part)[:30])
@pytest.mark.parametrize("role", list(Role))
def test_a_role_may_do_what_it_is_for_and_no_more(
    locked: Running, role: Role, *, method: str, path: str, body: Any, needed: Role
) -> None:
    headers = key_of(locked, role, "ann")
    answer = locked.client.request(method, f"/v1/namespaces/ann{path}", json=body, headers=headers)
    if role.includes(needed):
        assert answer.status_code in {200, 202, 404}, answer.text
    else:
        assert_problem(answer, 403, "forbidden")
    elsewhere = locked.client.request(method, f"/v1/namespaces/bob{path}", json=body, headers=headers)
    assert_problem(elsewhere, 403, "forbidden")


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic YTpi"}])
def test_without_a_valid_key_nothing_is_told(locked: Running, headers: dict[str, str]) -> None:
    for method, path, body, _ in ROUTES:
        answer = locked.client.request(method, f"/v1/namespaces/ann{path}", json=body, headers=headers)
        assert_problem(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    assert_problem(locked.client.get("/metrics", headers=headers), 401, "unauthorized")
    assert_problem(locked.client.get("/nowhere", headers=headers), 401, "unauthorized")


def test_a_key_may_come_in_its_own_header(locked: Running) -> None:
    secret = key_of(locked, Role.READER, "ann")["Authorization"].removeprefix("Bearer ")
    assert locked.client.get("/v1/namespaces/ann/facts", headers={"X-API-Key": secret}).status_code == 200


def test_what_is_counted_over_all_namespaces_needs_a_key_for_all(locked: Running) -> None:
    for role in Role:
        assert_problem(locked.client.get("/metrics", headers=key_of(locked, role, "ann")), 403, "forbidden")
    assert locked.client.get("/metrics", headers=key_of(locked, Role.READER, "*")).status_code == 200


def test_a_revoked_key_is_refused_at_once(locked: Running) -> None:
    headers = key_of(locked, Role.READER, "ann")
    assert locked.client.get("/v1/namespaces/ann/facts", headers=headers).status_code == 200
    KeyFile(locked.services.settings.keys_path).revoke(headers["Authorization"][11:19], "now")
    assert_problem(locked.client.get("/v1/namespaces/ann/facts", headers=headers), 401, "unauthorized")


def test_health_and_documentation_need_no_key(locked: Running) -> None:
    for path in ("/healthz", "/docs", "/openapi.json"):
        assert locked.client.get(path).status_code == 200
    assert locked.client.get("/readyz").status_code in {200, 503}


def test_without_keys_only_this_machines_names_are_answered(tmp_path: Path) -> None:
    with running(tmp_path, worker=False) as server:
        port = httpx.URL(server.url).port
        for host in (f"localhost:{port}", f"127.0.0.1:{port}", "127.0.0.1", f"[::1]:{port}"):
            assert server.client.get("/healthz", headers={"Host": host}).status_code == 200
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1.evil.example", "[::2]", ""):
            answer = server.client.get("/v1/namespaces/ann/facts", headers={"Host": host})
            assert_problem(answer, 403, "forbidden", "Host")


def test_listening_elsewhere_without_keys_is_refused(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", host="192.168.7.7")
    with pytest.raises(InvalidInput, match="keys create"):
        check_access(settings)
    KeyFile(settings.keys_path).add(access.new_key(["ann"], Role.READER, "", "")[1])
    check_access(settings)
    check_access(Settings(store=f"sqlite:///{tmp_path}/y.db", host="localhost"))


def test_listening_elsewhere_goes_by_whether_access_is_checked(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/x.db", host="192.168.7.7")
    settings.keys_path.symlink_to(settings.keys_path)  # cannot be looked at: every request will be refused
    assert KeyFile(settings.keys_path).exists()
    check_access(settings)
