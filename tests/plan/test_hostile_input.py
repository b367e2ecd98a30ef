"""No text or data makes the planner panic: it plans, or it raises a PenstockError with a reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError, SpecError
from penstock.plan import StreamGraph, plan_record
from tests.golden.load import plan_record as golden
from tests.properties.graphs import Spec, specs

BROKEN_TEXTS = {
    "empty": "",
    "blank": "   ",
    "not json": "hello",
    "cut off": json.dumps(golden("hw_diamond")["spec"])[:-20],
    "two documents": "{}{}",
    "trailing comma": '{"nodes":[],"edges":[],}',
    "comment": '{"nodes":[],"edges":[]} // done',
    "nul": "\x00",
    "byte order mark": "\ufeff" + json.dumps(golden("hw_empty")["spec"]),
    "an array": "[]",
    "a number": "7",
    "null": "null",
    "a string": '"nodes"',
    "deep arrays": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"nodes":' * 100_000 + "1" + "}" * 100_000,
    "deep arrays inside": '{"nodes":' + "[" * 10_000 + "]" * 10_000 + ',"edges":[]}',
    "lone surrogate": '{"name":"\\ud800","nodes":[],"edges":[}',
    "bad escape": '{"name":"\\x","nodes":[],"edges":[]}',
    "infinite number": '{"nodes":[{"id":1e400,"name":"a","kind":"source"}],"edges":[]}',
    "NaN": '{"nodes":[{"id":NaN,"name":"a","kind":"source"}],"edges":[]}',
    "Infinity": '{"nodes":[],"edges":[],"settings":{"checkpoint_interval":Infinity}}',
    "no nodes": '{"edges":[]}',
    "fields by position": '["name", true, {}, [], [], []]',
    "node by position": '{"nodes":[[1,"Source: S","source"]],"edges":[]}',
    "nodes twice": '{"nodes":[],"nodes":[],"edges":[]}',
}

ODD_VALUES: list[Any] = [
    None, True, -1, 0, 1.5, 2**31, -(2**31) - 1, 2**63, 2**64, 2**70, -(2**70), 1e308, "", "x" * 100_000, "ALWAYS",
    "\x00", [], {}, [[]], {"a": 1}, [None], ["default"],
]  # fmt: skip

RARE_FIELDS = {
    ("settings",): {"job_name": "j", "exchange_mode": "ALL_EDGES_PIPELINED", "schedule_mode": "EAGER",
                    "checkpointing_enabled": True, "checkpoint_interval": 100, "force_checkpointing": True,
                    "all_vertices_in_same_slot_sharing_group": False},
    ("nodes", 0): {"buffer_timeout": 10, "co_location_group": "c", "managed_memory_weight": 3,
                   "min_resources": {"cpu": 1.0, "heap_mb": 1, "off_heap_mb": 1, "managed_mb": 1},
                   "preferred_resources": {"cpu": 1.0, "heap_mb": 1, "off_heap_mb": 1, "managed_mb": 1}},
}  # fmt: skip


def rich_spec() -> Spec:
    """A graph with every field of the format."""
    spec = copy.deepcopy(golden("hw_iteration_checkpointing_forced")["spec"])
    spec["settings"].update(RARE_FIELDS[("settings",)])
    spec["nodes"][0].update(copy.deepcopy(RARE_FIELDS[("nodes", 0)]))
    return spec


def paths(value: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a JSON value, the value itself excepted."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, child in items for place in [(*prefix, key), *paths(child, (*prefix, key))]]


def plan_or_refuse(text: str) -> PenstockError | None:
    """All stages, and the record; a panic (``pyo3_runtime.PanicException``) or any other exception fails the test."""
    refusal = refusal_of(lambda: plan_stages(text))
    assert refusal is None or len(str(refusal)) > 15, f"no reason given: {refusal!r}"
    record = json.loads(plan_record(text))
    assert isinstance(record, dict)
    assert (refusal is None) or '"error"' in json.dumps(record)
    return refusal


def plan_stages(text: str) -> None:
    graph = StreamGraph.from_json(text)
    graph.operator_ids()
    graph.verdicts()
    graph.job_graph().execution_graph()


def refusal_of(work: Callable[[], Any]) -> PenstockError | None:
    try:
        work()
    except PenstockError as error:
        return error
    return None


@pytest.mark.parametrize("name", BROKEN_TEXTS)
def test_broken_texts_are_refused(name: str) -> None:
    error = plan_or_refuse(BROKEN_TEXTS[name])
    assert isinstance(error, SpecError), error


def test_every_field_takes_odd_values_without_a_panic() -> None:
    refused = tried = 0
    for path in paths(rich_spec()):
        for value in ODD_VALUES:
            spec = rich_spec()
            parent: Any = spec
            for key in path[:-1]:
                parent = parent[key]
            parent[path[-1]] = value
            tried += 1
            refused += plan_or_refuse(json.dumps(spec)) is not None
    assert tried > 1000
    assert refused > tried // 2


def test_every_field_may_be_missing_without_a_panic() -> None:
    for path in paths(rich_spec()):
        spec = rich_spec()
        parent: Any = spec
        for key in path[:-1]:
            parent = parent[key]
        del parent[path[-1]]
        plan_or_refuse(json.dumps(spec))


@pytest.mark.parametrize("path", [("nodes", 0, "id"), ("nodes", 0, "parallelism"), ("edges", 0, "source")])
@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**70, 1.5, "1", True, None])
def test_an_int_out_of_range_or_of_another_type_names_field_and_value(path: tuple[Any, ...], value: Any) -> None:
    spec = copy.deepcopy(golden("hw_chain3")["spec"])
    parent: Any = spec
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    with pytest.raises(SpecError) as caught:
        StreamGraph.from_json(json.dumps(spec))
    assert path[-1] in str(caught.value)


@given(specs(max_nodes=8), st.data())
def test_damaged_text_never_panics(spec: Spec, data: st.DataObject) -> None:
    text = json.dumps(spec)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    plan_or_refuse(text[:start] + data.draw(st.text(max_size=5)) + text[end:])


@pytest.mark.parametrize("value", [None, 7, b"{}", [], object()])
def test_arguments_of_another_type_are_ordinary_errors(value: Any) -> None:
    for call in (StreamGraph.from_json, plan_record):
        with pytest.raises((TypeError, PenstockError)):
            call(value)
    with pytest.raises((TypeError, PenstockError)):
        StreamGraph.from_dict(value)
