"""The manifests of examples/kubernetes are what Kubernetes takes, by its own schemas, and fit each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.job.folder.owners import LEASE_SECONDS

FOLDER = Path(__file__).parents[2] / "examples" / "kubernetes"
VERSIONS = "1.31", "1.37"


def documents(name: str) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((FOLDER / name).read_text(encoding="utf-8")))


def validate(document: dict[str, Any], version: str) -> None:
    """A field that the schemas do not have is an error."""
    pytest.importorskip("kubernetes_validate").validate(document, version, strict=True)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", ["access.yaml", "driver.yaml"])
def test_a_manifest_fits_the_schemas(name: str, version: str) -> None:
    for document in documents(name):
        validate(document, version)


def test_a_field_that_is_not_there_is_noticed() -> None:
    (service, _) = documents("driver.yaml")
    service["spec"]["selectors"] = {}
    with pytest.raises(Exception, match="selectors"):
        validate(service, VERSIONS[-1])


def pods() -> list[dict[str, Any]]:
    """What the Spark operator makes of a SparkApplication, as far as fields of pods go through it."""
    (application,) = documents("spark-application.yaml")
    result = []
    for part in ("driver", "executor"):
        fields = application["spec"][part]
        container = {"name": part, "image": application["spec"]["image"]}
        container |= {key: fields[key] for key in ("envFrom", "securityContext")}
        spec = {"containers": [container]}
        if part == "driver":
            spec |= {"terminationGracePeriodSeconds": fields["terminationGracePeriodSeconds"]}
        result.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": part}, "spec": spec})
    return result


@pytest.mark.parametrize("version", VERSIONS)
def test_pods_of_a_spark_application_fit_the_schemas(version: str) -> None:
    for pod in pods():
        validate(pod, version)


def test_the_manifests_fit_each_other() -> None:
    account, _, _, secret = documents("access.yaml")
    service, stateful = documents("driver.yaml")
    (application,) = documents("spark-application.yaml")
    pod = stateful["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["serviceAccountName"] == account["metadata"]["name"] == application["spec"]["driver"]["serviceAccount"]
    assert stateful["spec"]["serviceName"] == service["metadata"]["name"]
    assert {port["port"] for port in service["spec"]["ports"]} == {p["containerPort"] for p in container["ports"]}
    name = f"{stateful['metadata']['name']}-0"
    assert f"--conf=spark.kubernetes.driver.pod.name={name}" in container["args"]
    assert f"--conf=spark.driver.host={name}.{service['metadata']['name']}" in container["args"]
    assert f"--conf=spark.kubernetes.container.image={container['image']}" in container["args"]
    assert application["spec"]["image"] == container["image"]
    secrets = [container, application["spec"]["driver"], application["spec"]["executor"]]
    for user in secrets:
        assert user["envFrom"] == [{"secretRef": {"name": secret["metadata"]["name"]}}]


def test_a_driver_that_was_killed_is_started_again_when_its_lease_is_over() -> None:
    (application,) = documents("spark-application.yaml")
    assert application["spec"]["restartPolicy"]["type"] == "OnFailure"
    assert application["spec"]["restartPolicy"]["onFailureRetryInterval"] > LEASE_SECONDS


def test_the_image_has_stages_and_a_user() -> None:
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    assert len(re.findall(r"^FROM ", text, re.MULTILINE)) == 2
    users = re.findall(r"^USER (\S+)", text, re.MULTILINE)
    (application,) = documents("spark-application.yaml")
    assert users[-1] == str(application["spec"]["driver"]["securityContext"]["runAsUser"]) != "0"
    assert application["spec"]["sparkVersion"] == re.findall(r"^ARG SPARK=(\S+)", text, re.MULTILINE)[0]
