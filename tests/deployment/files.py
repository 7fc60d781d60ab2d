"""Reads Dockerfile, docker-compose.yml, .env.example, deploy/ and the commands in the docs, into plain values."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
KUBERNETES = ROOT / "deploy" / "kubernetes"
OURS = "memgraph-server"
_BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)


# -- Dockerfile
def instructions() -> list[tuple[str, str]]:
    """(instruction, its arguments), continued lines joined, comments left out."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", "", lines).splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1].strip()) for line in joined if line.strip()]


def of_last_stage() -> list[tuple[str, str]]:
    every = instructions()
    start = max(number for number, (name, _) in enumerate(every) if name == "FROM")
    return every[start:]


def image_environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for name, rest in of_last_stage() if name == "ENV" for pair in shlex.split(rest))


def health_check() -> list[str]:
    found = next(rest for name, rest in of_last_stage() if name == "HEALTHCHECK")
    command: list[str] = json.loads(found[found.index("[") :])
    return command


def image_extras() -> str:
    (extras,) = re.findall(r"\$\{wheel\}\[([\w,-]+)\]", "".join(rest for _, rest in instructions()))
    return str(extras)


def build_sources() -> list[str]:
    """What the first stage copies out of the checkout."""
    copies = [rest.split() for name, rest in instructions() if name == "COPY" and "--from" not in rest]
    return [source for parts in copies for source in parts[:-1]]


# -- docker-compose.yml and .env.example
def compose() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    return document


def example_variables() -> tuple[dict[str, str], dict[str, str]]:
    """Those that are set, and those that are shown behind a `#`."""
    found: dict[str, dict[str, str]] = {"": {}, "#": {}}
    for line in (ROOT / ".env.example").read_text("utf-8").splitlines():
        if match := re.fullmatch(r"(#?)([A-Z][A-Z0-9_]*)=(.*)", line):
            found[match[1]][match[2]] = match[3]
    return found[""], found["#"]


def interpolated() -> dict[str, str]:
    """Variables that docker-compose.yml takes from .env, with its defaults."""
    return dict(re.findall(r"\$\{([A-Z0-9_]+):-([^}]*)\}", (ROOT / "docker-compose.yml").read_text("utf-8")))


# -- deploy/kubernetes
def manifests() -> list[tuple[str, dict[str, Any]]]:
    """(file, document), the kustomization left out."""
    return [
        (path.name, document)
        for path in sorted(KUBERNETES.glob("*.yaml"))
        if path.name != "kustomization.yaml"
        for document in yaml.safe_load_all(path.read_text("utf-8"))
    ]


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [document for _, document in manifests() if document["kind"] in kinds]


def workloads() -> list[dict[str, Any]]:
    return of_kind("Deployment", "StatefulSet", "Job")


def kustomization() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load((KUBERNETES / "kustomization.yaml").read_text("utf-8"))
    return document


# -- what all of them start
@dataclass(frozen=True)
class Part:
    """One process of the server as some file starts it; `mounted`: folders and files that it finds there."""

    where: str
    arguments: list[str]
    environment: dict[str, str]
    mounted: set[str] = field(default_factory=set)

    def finds(self, path: str) -> bool:
        return any(path == place or path.startswith(f"{place}/") for place in self.mounted)


def parts() -> list[Part]:
    return [_of_image(), *_of_compose(), *_of_kubernetes()]


def _of_image() -> Part:
    stage = dict(of_last_stage())
    return Part("Dockerfile", json.loads(stage["CMD"]), image_environment(), {stage["WORKDIR"]})


def _of_compose() -> Iterator[Part]:
    shown = {name: value for name, value in example_variables()[0].items() if name.startswith("MEMGRAPH_SERVER_")}
    for name, service in compose()["services"].items():
        if OURS in service["image"]:
            mounted = {f"/run/secrets/{secret}" for secret in service.get("secrets", [])}
            mounted |= {volume.split(":")[1] for volume in service.get("volumes", [])}
            given = image_environment() | shown | service["environment"]
            yield Part(f"docker-compose.yml: {name}", service["command"], given, mounted)


def _of_kubernetes() -> Iterator[Part]:
    maps = {document["metadata"]["name"]: document["data"] for document in of_kind("ConfigMap")}
    for document in workloads():
        pod = document["spec"]["template"]["spec"]
        for container in pod["containers"]:
            if container["image"] != OURS:
                continue
            given = dict(image_environment())
            for source in container["envFrom"]:
                given |= maps[source["configMapRef"]["name"]]
            yield Part(
                f"kubernetes: {document['metadata']['name']}", container["args"], given, set(_mounted(pod, container))
            )


def _mounted(pod: dict[str, Any], container: dict[str, Any]) -> Iterator[str]:
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for mount in container["volumeMounts"]:
        items = volumes[mount["name"]].get("secret", {}).get("items")
        yield from [f"{mount['mountPath']}/{item['path']}" for item in items] if items else [mount["mountPath"]]


# -- commands in the docs
def commands_in_docs() -> list[tuple[str, list[str]]]:
    """(page, arguments) of every `memgraph-server …` in a block, also of those that run in a container."""
    found = []
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for block in _BLOCK.findall(page.read_text("utf-8")):
            for line in re.sub(r"\\\n\s*", "", block).splitlines():
                found += [(page.name, arguments) for arguments in _commands_of(line)]
    return found


def _commands_of(line: str) -> Iterator[list[str]]:
    if not re.search(rf"\b{OURS} |docker compose (run|exec) |docker run ", line):
        return
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # a text over several lines, such as JSON for curl
        return
    ours = {name for name, service in compose()["services"].items() if OURS in service["image"]}
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words.pop(0)
    if words[:1] == [OURS]:
        start = 1
    elif words[:3] == ["docker", "compose", "run"]:
        start = next((number + 1 for number, word in enumerate(words) if word in ours), len(words))
    elif words[:2] == ["docker", "run"]:
        start = next((number + 1 for number, word in enumerate(words) if word.startswith(f"{OURS}:")), len(words))
    else:
        return
    ends = [number for number, word in enumerate(words) if number >= start and re.match(r"[|&;>]|2>", word)]
    if words[start:]:
        yield words[start : ends[0] if ends else None]
