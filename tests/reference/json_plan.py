"""The JSON of a JobGraph, as ``JsonPlanGenerator`` prints it, for a job whose id is all zeros."""

from __future__ import annotations

from tests.reference.java import html4, json_string
from tests.reference.job_types import JobEdge, JobGraph, JobVertex


def render(job: JobGraph, name: str) -> str:
    """Vertices in order of creation, one line."""
    nodes = ",".join(map(_vertex, job.vertices.values()))
    return f'{{"jid":"{"0" * 32}","name":{json_string(name)},"nodes":[{nodes}]}}'


def _vertex(vertex: JobVertex) -> str:
    description = html4(vertex.name).replace("\n", "<br/>").replace("\\", "&#92;")
    fields = [
        f'"id":"{vertex.id.hex()}"',
        f'"parallelism":{vertex.parallelism}',
        '"operator":""',
        '"operator_strategy":""',
        f'"description":{json_string(description)}',
    ]
    if vertex.inputs:
        inputs = ",".join(_input(number, edge) for number, edge in enumerate(vertex.inputs))
        fields.append(f'"inputs":[{inputs}]')
    return "{" + ",".join([*fields, '"optimizer_properties":{}']) + "}"


def _input(number: int, edge: JobEdge) -> str:
    exchange = edge.data_set.result_type.lower()
    source = edge.data_set.producer.id.hex()
    return f'{{"num":{number},"id":"{source}","ship_strategy":"{edge.ship_strategy}","exchange":"{exchange}"}}'
