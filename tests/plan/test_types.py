"""The types of ``penstock.plan.types`` list what the planner takes, no more and no less."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import pytest

from penstock.errors import SpecError
from penstock.plan import PROFILES, StreamGraph, StreamGraphBuilder, shapes, types

EXECUTIONS = shapes.all_to_all(2).job_graph().execution_graph().executions()


@pytest.mark.parametrize(
    ("spellings", "call"),
    [
        (types.Kind, lambda value: StreamGraphBuilder().add_node(1, "a", value)),
        (types.ChainingStrategy, lambda value: StreamGraphBuilder().add_node(1, "a", "sink", chaining_strategy=value)),
        (types.Partitioner, lambda value: StreamGraphBuilder().add_edge(1, 2, partitioner=value)),
        (types.ShuffleMode, lambda value: StreamGraphBuilder().add_edge(1, 2, shuffle_mode=value)),
        (types.ExchangeMode, lambda value: StreamGraphBuilder(exchange_mode=value)),
        (types.ScheduleMode, lambda value: StreamGraphBuilder(schedule_mode=value)),
        (types.CheckpointingMode, lambda value: StreamGraphBuilder(checkpointing_mode=value)),
        (types.ExecutionState, lambda value: EXECUTIONS.transition(0, 0, value)),
    ],
)
def test_spellings(spellings: Any, call: Callable[[Any], object]) -> None:
    with pytest.raises(SpecError, match="expected one of") as caught:
        call("?")
    listed = str(caught.value).rsplit("expected one of ", 1)[1].rstrip(".").split(", ")
    assert listed == list(get_args(spellings))


def test_versions() -> None:
    assert get_args(types.FlinkVersion) == PROFILES


def unknown(**more: Any) -> dict[str, Any]:
    return {"nodes": [], "edges": [], **more}


@pytest.mark.parametrize(
    ("description", "spec"),
    [
        (types.Description, unknown(other=1)),
        (types.SettingsDescription, unknown(settings={"other": 1})),
        (types.NodeDescription, unknown(nodes=[{"other": 1}])),
        (types.EdgeDescription, unknown(edges=[{"other": 1}])),
        (types.IterationDescription, unknown(iterations=[{"other": 1}])),
        (types.ResourcesDescription, unknown(nodes=[{"min_resources": {"other": 1}}])),
    ],
)
def test_fields_of_descriptions(description: type, spec: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="unknown field `other`") as caught:
        StreamGraph.from_dict(spec)
    assert set(re.findall(r"`(\w+)`", str(caught.value))) - {"other"} == get_type_hints(description).keys()


def test_checkpointing() -> None:
    assert shapes.all_to_all(2).job_graph().checkpointing.keys() == get_type_hints(types.Checkpointing).keys()
