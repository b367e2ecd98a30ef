"""The JSON of a JobGraph, as ``JsonPlanGenerator`` prints it, for a job whose id is all zeros."""

from __future__ import annotations

from tests.reference.java import html4, json_string
from tests.reference.job_types import JobEdge, JobGraph, JobVertex
from tests.reference.profile import PROFILES, Profile

OLD = PROFILES["1.11"]
OLD_NODE = ("id", "parallelism", "operator", "operator_strategy", "description", "inputs", "optimizer_properties")
NEW_NODE = ("id", "operator", "parallelism", "operator_strategy", "description", "optimizer_properties", "inputs")
OLD_INPUT = ("num", "id", "ship_strategy", "exchange")
NEW_INPUT = ("id", "num", "exchange", "ship_strategy")


def render(job: JobGraph, name: str, profile: Profile) -> str:
    """Vertices in order of creation, one line."""
    nodes = ",".join(_vertex(vertex, profile) for vertex in job.vertices.values())
    kind = "" if profile is OLD else '"type":"STREAMING",'
    return f'{{"jid":"{"0" * 32}","name":{json_string(name)},{kind}"nodes":[{nodes}]}}'


def tree(vertex: JobVertex) -> str:
    """The operators of a chain, a line each, drawn as a tree."""
    lines: list[str] = []

    def draw(node_id: int, first: str, others: str) -> None:
        config = vertex.head if node_id == vertex.head.node.id else vertex.chained[node_id]
        lines.append(f"{first}{config.node.name}\n")
        targets = [edge.target.id for edge in config.chained_outputs]
        for number, target in enumerate(targets, start=1):
            last = number == len(targets)
            draw(target, others + ("+- " if last else ":- "), others + ("   " if last else ":  "))

    draw(vertex.head.node.id, "", "")
    return "".join(lines)


def _vertex(vertex: JobVertex, profile: Profile) -> str:
    text = vertex.name if profile is OLD else tree(vertex)
    description = html4(text).replace("\n", "<br/>").replace("\\", "&#92;")
    fields = {
        "id": f'"{vertex.id.hex()}"',
        "parallelism": str(vertex.parallelism),
        "operator": '""',
        "operator_strategy": '""',
        "description": json_string(description),
        "optimizer_properties": "{}",
    }
    if vertex.inputs:
        fields["inputs"] = f"[{','.join(_input(number, edge, profile) for number, edge in enumerate(vertex.inputs))}]"
    return _object(fields, OLD_NODE if profile is OLD else NEW_NODE)


def _input(number: int, edge: JobEdge, profile: Profile) -> str:
    fields = {
        "num": str(number),
        "id": f'"{edge.data_set.producer.id.hex()}"',
        "ship_strategy": f'"{edge.ship_strategy}"',
        "exchange": f'"{edge.data_set.result_type.lower()}"',
    }
    return _object(fields, OLD_INPUT if profile is OLD else NEW_INPUT)


def _object(fields: dict[str, str], order: tuple[str, ...]) -> str:
    return "{" + ",".join(f'"{key}":{fields[key]}' for key in order if key in fields) + "}"
