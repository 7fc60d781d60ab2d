"""deploy/kubernetes against Kubernetes' own schemas, strictly, and against itself: names, labels, ports."""

from __future__ import annotations

from typing import Any

import pytest

from memgraph_server import __version__
from memgraph_server.settings import InvalidSetting, Settings
from tests.deployment import files
from tests.services.needed import absent

DOCUMENTS = files.manifests()
WORKLOADS = files.workloads()
POLICIES = files.of_kind("NetworkPolicy")


def named(document: dict[str, Any]) -> str:
    return f"{document['kind']}/{document['metadata']['name']}"


def pod(document: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = document["spec"]["template"]["spec"]
    return spec


def labels(document: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = document["spec"]["template"]["metadata"]["labels"]
    return found


def chosen(selector: dict[str, str]) -> list[dict[str, Any]]:
    """Workloads whose pods have all these labels."""
    return [document for document in WORKLOADS if selector.items() <= labels(document).items()]


def ports(document: dict[str, Any]) -> dict[str, int]:
    found = [port for container in pod(document)["containers"] for port in container.get("ports", [])]
    return {port["name"]: port["containerPort"] for port in found}


@pytest.mark.parametrize("version", ["1.32", "1.37"])
@pytest.mark.parametrize("document", [document for _, document in DOCUMENTS], ids=named)
def test_the_schema_of_kubernetes_accepts_it(document: dict[str, Any], version: str) -> None:
    try:
        import kubernetes_validate
    except ModuleNotFoundError:
        absent("set of Kubernetes' schemas", "pip install -e '.[deployment]'")
    kubernetes_validate.validate(document, version, strict=True)


def test_the_kustomization_names_every_file() -> None:
    here = {name for name, _ in DOCUMENTS if not name.endswith(".example.yaml")}
    assert sorted(here) == sorted(files.kustomization()["resources"])


def test_no_two_documents_have_one_name() -> None:
    names = [named(document) for _, document in DOCUMENTS]
    assert len(names) == len(set(names))


def test_no_secret_is_in_the_files() -> None:
    assert not files.of_kind("Secret")
    given = [
        variable for document in WORKLOADS for one in pod(document)["containers"] for variable in one.get("env", [])
    ]
    assert all("valueFrom" in variable for variable in given if "AUTH" in variable["name"])


@pytest.mark.parametrize("document", WORKLOADS, ids=named)
def test_a_pod_has_no_rights_that_it_does_not_need(document: dict[str, Any]) -> None:
    spec = pod(document)
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] > 0
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert context.get("readOnlyRootFilesystem") is (None if container["name"] == "neo4j" else True)


@pytest.mark.parametrize("document", WORKLOADS, ids=named)
def test_a_container_says_what_it_needs_and_how_much_it_may_take(document: dict[str, Any]) -> None:
    for container in pod(document)["containers"]:
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


@pytest.mark.parametrize("document", WORKLOADS, ids=named)
def test_variables_that_kubernetes_makes_of_services_stay_away(document: dict[str, Any]) -> None:
    assert pod(document)["enableServiceLinks"] is False


def test_such_a_variable_would_be_refused_as_a_setting() -> None:
    with pytest.raises(InvalidSetting):
        Settings.read({"MEMGRAPH_SERVER_PORT": "tcp://10.0.0.1:80"})
    with pytest.raises(InvalidSetting):
        Settings.read({"MEMGRAPH_SERVER_SERVICE_HOST": "10.0.0.1"})


def test_images_have_versions_and_ours_is_this_one() -> None:
    replaced = {image["name"]: image["newTag"] for image in files.kustomization()["images"]}
    assert replaced == {files.OURS: __version__}
    for document in WORKLOADS:
        for container in pod(document)["containers"]:
            name, _, tag = container["image"].partition(":")
            assert tag[:1].isdigit() or name in replaced
    neo4j, redis = (next(one for one in WORKLOADS if one["metadata"]["name"] == name) for name in ("neo4j", "redis"))
    assert pod(neo4j)["containers"][0]["image"] == files.interpolated()["NEO4J_IMAGE"]
    assert pod(redis)["containers"][0]["image"] == files.interpolated()["REDIS_IMAGE"]


@pytest.mark.parametrize("document", files.of_kind("Deployment", "StatefulSet"), ids=named)
def test_a_workload_selects_its_own_pods_alone(document: dict[str, Any]) -> None:
    assert chosen(document["spec"]["selector"]["matchLabels"]) == [document]


@pytest.mark.parametrize("service", files.of_kind("Service"), ids=named)
def test_a_service_leads_to_ports_that_exist(service: dict[str, Any]) -> None:
    (target,) = chosen(service["spec"]["selector"])
    assert all(port["targetPort"] in ports(target) for port in service["spec"]["ports"])


@pytest.mark.parametrize("policy", POLICIES, ids=named)
def test_a_network_policy_is_about_pods_and_ports_that_exist(policy: dict[str, Any]) -> None:
    assert chosen(policy["spec"]["podSelector"].get("matchLabels", {}))
    for rule in policy["spec"].get("ingress", []):
        targets = chosen(policy["spec"]["podSelector"]["matchLabels"])
        assert all(port["port"] in ports(target).values() for port in rule["ports"] for target in targets)
        assert all(chosen(source["podSelector"]["matchLabels"]) for source in rule.get("from", []))
    for rule in policy["spec"].get("egress", []):
        for destination in rule.get("to", []):
            (target,) = chosen(destination["podSelector"]["matchLabels"])
            assert all(port["port"] in ports(target).values() for port in rule["ports"])


def test_where_a_pod_may_go_it_is_let_in() -> None:
    """Store and broker: an egress rule of the parts has its ingress rule at the other end."""
    out = {
        (destination["podSelector"]["matchLabels"]["app.kubernetes.io/name"], port["port"])
        for policy in POLICIES
        for rule in policy["spec"].get("egress", [])
        for destination in rule.get("to", [])
        for port in rule["ports"]
    }
    let_in = {
        (policy["spec"]["podSelector"]["matchLabels"]["app.kubernetes.io/name"], port["port"])
        for policy in POLICIES
        for rule in policy["spec"].get("ingress", [])
        for port in rule["ports"]
    }
    assert out == {("neo4j", 7687), ("redis", 6379)}
    assert out < let_in


def test_addresses_in_the_settings_are_those_of_services() -> None:
    (settings,) = (document["data"] for document in files.of_kind("ConfigMap"))
    known = {
        f"{service['metadata']['name']}:{port['port']}"
        for service in files.of_kind("Service")
        for port in service["spec"]["ports"]
    }
    for name in ("MEMGRAPH_SERVER_STORE", "MEMGRAPH_SERVER_BROKER_URL"):
        assert settings[name].partition("://")[2].split("/")[0] in known


def test_the_api_listens_where_its_pods_say() -> None:
    (api,) = (document for document in WORKLOADS if document["metadata"]["name"] == "memgraph-server-api")
    assert ports(api) == {"http": int(files.image_environment()["MEMGRAPH_SERVER_PORT"])}
    container = pod(api)["containers"][0]
    paths = {kind: container[kind]["httpGet"]["path"] for kind in ("startupProbe", "livenessProbe", "readinessProbe")}
    assert paths == {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz?for=requests"}


@pytest.mark.parametrize("scaler", files.of_kind("HorizontalPodAutoscaler"), ids=named)
def test_an_autoscaler_is_alone_with_the_number_of_replicas(scaler: dict[str, Any]) -> None:
    target = scaler["spec"]["scaleTargetRef"]
    (document,) = (one for one in WORKLOADS if named(one) == f"{target['kind']}/{target['name']}")
    assert "replicas" not in document["spec"]
    assert scaler["spec"]["minReplicas"] >= 2


@pytest.mark.parametrize("budget", files.of_kind("PodDisruptionBudget"), ids=named)
def test_a_disruption_budget_leaves_room_for_a_drain(budget: dict[str, Any]) -> None:
    (document,) = chosen(budget["spec"]["selector"]["matchLabels"])
    (scaler,) = (
        one
        for one in files.of_kind("HorizontalPodAutoscaler")
        if one["spec"]["scaleTargetRef"]["name"] == document["metadata"]["name"]
    )
    assert budget["spec"]["minAvailable"] < scaler["spec"]["minReplicas"]


def test_there_is_one_beat_at_any_moment() -> None:
    (beat,) = (document for document in WORKLOADS if document["metadata"]["name"] == "memgraph-server-beat")
    assert (beat["spec"]["replicas"], beat["spec"]["strategy"]) == (1, {"type": "Recreate"})


def test_what_neo4j_and_redis_keep_is_on_a_volume_claim() -> None:
    for document in files.of_kind("StatefulSet"):
        (claim,) = document["spec"]["volumeClaimTemplates"]
        mounts = {mount["name"]: mount["mountPath"] for mount in pod(document)["containers"][0]["volumeMounts"]}
        assert mounts[claim["metadata"]["name"]] == "/data"
