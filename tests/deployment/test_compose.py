"""docker-compose.yml, as Docker Compose itself reads it and by the rules of this deployment."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memgraph_server import __version__
from tests.deployment import files
from tests.deployment.clients import client

SERVICES = files.compose()["services"]
OURS = {name for name, service in SERVICES.items() if files.OURS in service["image"]}


def configured(folder: Path, example: bool) -> dict[str, Any]:
    """What Docker Compose makes of the file, with .env.example as .env or without any."""
    shutil.copy(files.ROOT / "docker-compose.yml", folder)
    if example:
        shutil.copy(files.ROOT / ".env.example", folder / ".env")
    done = subprocess.run(
        [client("docker-compose"), "--project-directory", folder, "config", "--format", "json"],
        cwd=folder, env={"HOME": str(folder)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "no variable is missing"
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("example", [True, False])
def test_docker_compose_accepts_it(example: bool, tmp_path: Path) -> None:
    services = configured(tmp_path, example)["services"]
    assert services.keys() == {"neo4j", "redis", "migrate", "api", "worker", "beat"}
    assert services["neo4j"]["environment"]["NEO4J_server_memory_heap_max__size"] == "1g"
    assert services["api"]["environment"]["MEMGRAPH_SERVER_STORE"] == "neo4j://neo4j:7687"


def test_api_and_workers_can_be_several(tmp_path: Path) -> None:
    shutil.copy(files.ROOT / ".env.example", tmp_path / ".env")
    with (tmp_path / ".env").open("a") as environment:
        environment.write("API_REPLICAS=3\nAPI_PORTS=8765-8767\nWORKERS=5\n")
    services = configured(tmp_path, example=False)["services"]
    assert [port["published"] for port in services["api"]["ports"]] in (["8765", "8766", "8767"], ["8765-8767"])
    assert (services["api"]["deploy"]["replicas"], services["worker"]["deploy"]["replicas"]) == (3, 5)


def test_the_example_holds_every_variable_with_its_default() -> None:
    shown = {
        name: value for name, value in files.example_variables()[0].items() if not name.startswith("MEMGRAPH_SERVER_")
    }
    assert shown == files.interpolated()
    used = set(re.findall(r"\$\{?([A-Z0-9_]+)", (files.ROOT / "docker-compose.yml").read_text("utf-8")))
    assert used == set(shown)


def test_settings_of_the_example_are_accepted(tmp_path: Path) -> None:
    from memgraph_server.settings import Settings

    given, shown = files.example_variables()
    Settings.read({name: value for name, value in (given | shown).items() if name.startswith("MEMGRAPH_SERVER_")})


def test_the_example_holds_no_secret() -> None:
    given, shown = files.example_variables()
    assert not any(
        value for name, value in (given | shown).items() if re.search("PASSWORD|KEY|TOKEN|SECRET|AUTH", name)
    )


def test_secrets_are_files_that_are_never_committed() -> None:
    assert {secret["file"] for secret in files.compose()["secrets"].values()} == {
        "./secrets/neo4j_auth", "./secrets/neo4j_password",
    }  # fmt: skip
    ignored = (files.ROOT / ".gitignore").read_text("utf-8").splitlines()
    assert {"/.env", "/secrets/"} <= set(ignored)


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_comes_up_again_and_has_its_log_bounded(name: str) -> None:
    assert SERVICES[name]["restart"] == ("on-failure:5" if name == "migrate" else "unless-stopped")
    assert SERVICES[name]["logging"]["options"].keys() == {"max-size", "max-file"}


@pytest.mark.parametrize("name", ["neo4j", "redis"])
def test_data_is_on_a_volume_at_the_right_path(name: str) -> None:
    assert f"{name}_data:/data" in SERVICES[name]["volumes"]
    assert f"{name}_data" in files.compose()["volumes"]


@pytest.mark.parametrize("name", sorted({"api", "worker", "beat"}))
def test_it_starts_after_stores_are_healthy_and_the_schema_is_there(name: str) -> None:
    assert SERVICES[name]["depends_on"] == {
        "neo4j": {"condition": "service_healthy"},
        "redis": {"condition": "service_healthy"},
        "migrate": {"condition": "service_completed_successfully"},
    }
    assert all("test" in SERVICES[other]["healthcheck"] for other in ("neo4j", "redis"))


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_part_of_the_server_has_no_rights_that_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_the_images_check_is_that_of_the_api_alone() -> None:
    assert "healthcheck" not in SERVICES["api"]
    assert all(SERVICES[name]["healthcheck"] == {"disable": True} for name in OURS - {"api"})


def test_only_loopback_is_published() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert len(published) == 3
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_ports_agree() -> None:
    settings = SERVICES["api"]["environment"]
    assert SERVICES["api"]["ports"][0].endswith(f":{files.image_environment()['MEMGRAPH_SERVER_PORT']}")
    assert settings["MEMGRAPH_SERVER_STORE"].endswith("neo4j:7687")
    assert "127.0.0.1:7687:7687" in SERVICES["neo4j"]["ports"]
    assert settings["MEMGRAPH_SERVER_BROKER_URL"].startswith("redis://redis:6379/")


def test_redis_keeps_what_it_is_given_and_evicts_nothing() -> None:
    command = SERVICES["redis"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert (options["--appendonly"], options["--maxmemory-policy"]) == ("yes", "noeviction")


def test_there_is_one_beat() -> None:
    assert SERVICES["beat"]["deploy"]["replicas"] == 1


def test_images_have_versions_and_ours_is_this_one() -> None:
    defaults = files.interpolated()
    assert defaults["MEMGRAPH_IMAGE"] == f"memgraph-server:{__version__}"
    assert all(re.search(r":\d", defaults[name]) for name in ("MEMGRAPH_IMAGE", "NEO4J_IMAGE", "REDIS_IMAGE"))
    assert tuple(map(int, defaults["NEO4J_IMAGE"].removeprefix("neo4j:").split("."))) >= (2026, 8)
