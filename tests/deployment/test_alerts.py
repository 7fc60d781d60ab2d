"""deploy/prometheus: rules ask for metrics, labels and routes that the server really has."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from memgraph_server.api.language_model_metrics import LanguageModelMetrics
from memgraph_server.language.language_model.spending import Spending
from tests.api.serving import running
from tests.deployment import files

RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((files.ROOT / "deploy" / "prometheus" / "alerts.yaml").read_text("utf-8"))["groups"]
    for rule in group["rules"]
]
#: What a family's name has behind it in the exposition.
ENDS = ("", "_total", "_bucket", "_count", "_sum")


@pytest.fixture(scope="module")
def exposition(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a server says that has answered something."""
    with running(tmp_path_factory.mktemp("served")) as server:
        server.namespace("ann").post("/query", {"query": "Where does Ann live?"})
        return server.client.get("/metrics").text


def asked(rule: dict[str, Any]) -> set[str]:
    return set(re.findall(r"\bmemgraph_server_\w+", rule["expr"]))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_is_whole(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"].keys() == {"summary", "do"}
    assert rule["expr"].count("(") == rule["expr"].count(")")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_a_rule_asks_for_metrics_that_are_there(rule: dict[str, Any], exposition: str) -> None:
    families = {name for name, _ in re.findall(r"^# TYPE (\w+) (\w+)", exposition, re.MULTILINE)}
    families |= {metric.name for metric in LanguageModelMetrics(Spending()).collect()}
    known = {f"{family.removesuffix('_total')}{end}" for family in families for end in ENDS}
    assert asked(rule) <= known
    assert asked(rule) or rule["expr"].startswith("up{")


@pytest.mark.parametrize("route", re.findall(r'route="([^"]+)"', str([rule["expr"] for rule in RULES])))
def test_a_rule_is_about_a_route_that_is_counted(route: str, exposition: str) -> None:
    assert f'route="{route}"' in exposition


def test_one_alert_has_one_name() -> None:
    names = [rule["alert"] for rule in RULES]
    assert len(names) == len(set(names))
    assert all(name.startswith("MemgraphServer") for name in names)
