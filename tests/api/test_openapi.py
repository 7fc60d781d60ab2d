"""The API's description is a public promise: it changes only together with `tests/golden/openapi.json`.

After a change that is meant: `python -m tests.api.test_openapi` writes the file anew; look at its diff.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memgraph_server import __version__, wiring
from memgraph_server.api.app import create_app
from memgraph_server.settings import Settings
from tests.api.serving import QUICK, Running

GOLDEN = Path(__file__).parent.parent / "golden" / "openapi.json"


def described() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        services = wiring.services(Settings(**{**QUICK, "store": f"sqlite:///{folder}/x.db"}))
        try:
            document: dict[str, Any] = create_app(services).openapi()
        finally:
            services.close()
    document["info"]["version"] = "golden"
    return document


def test_the_description_is_the_promised_one() -> None:
    assert described() == json.loads(GOLDEN.read_text("utf-8"))


def test_the_description_is_served_as_openapi_3_1(served: Running) -> None:
    document = served.client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1.")
    assert document["info"]["version"] == __version__


def test_every_schema_is_valid_json_schema() -> None:
    for schema in described()["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_operation_says_what_it_does_and_that_errors_are_problems() -> None:
    for path, item in described()["paths"].items():
        for method, about in item.items():
            assert about["summary"], (method, path)
            assert "application/problem+json" in about["responses"]["4XX"]["content"], (method, path)


def test_answers_are_as_described(served: Running) -> None:
    ann = served.namespace("described")
    ann.say("I live in Paris.")
    document = described()
    fact = ann.timeline("Ann")[0]
    answers = {
        "/v1/namespaces/{ns}/timeline": ann.get("/timeline", name="Ann"),
        "/v1/namespaces/{ns}/facts/{fact_id}": ann.get(f"/facts/{fact['id']}"),
        "/v1/namespaces/{ns}/entities": ann.get("/entities"),
        "/readyz": served.client.get("/readyz"),
    }
    for path, answer in answers.items():
        schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), {**schema, "components": document["components"]})


def test_the_page_of_documentation_asks_no_other_host(served: Running) -> None:
    page = served.client.get("/docs")
    assert page.headers["content-type"].startswith("text/html")
    assert re.findall(r"(?:https?:)?//[a-z]", page.text) == []
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    for code in ("invalid_input", "conflict", "store_unavailable"):
        assert f"{code}:" in page.text


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_the_root_leads_to_the_documentation(served: Running, path: str) -> None:
    assert served.client.get(path, follow_redirects=True).url.path == "/docs"


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(described(), ensure_ascii=False, indent=1, sort_keys=True) + "\n", "utf-8")
