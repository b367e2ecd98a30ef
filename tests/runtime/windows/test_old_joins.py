"""Joins in windows go on with the state of earlier versions, in which a record and its side are a pair."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import _native
from penstock.common import Types
from penstock.compiler.operators import Compilation
from penstock.runtime.buffers.signals import MAX_WATERMARK
from penstock.runtime.chain.segments import Segment
from penstock.runtime.keys.partition import KeyPartition
from penstock.runtime.operators.window import WindowOperator
from penstock.runtime.windows.assigners import TumblingEventTimeWindows
from penstock.runtime.windows.functions import CoGroupWindow, TaggedKey
from penstock.runtime.windows.triggers import EventTimeTrigger
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.snapshots import carry_over


def first(record):
    return record[0]


BEFORE = KeyPartition(lambda element: element[1][0], Types.STRING())
NOW = KeyPartition(TaggedKey(first, first), Types.STRING())
OLD = [(1, ("a", 1)), (2, ("a", 10)), (1, ("b", 2)), (1, ("a", 3))]
NEW = [(2, None, ("b", 20)), (2, None, ("a", 30)), (1, ("a", 4), None), (2, None, ("c", 40))]
FUNCTIONS = {
    "join": CoGroupWindow(lambda left, right: (*left, right[1]), "join"),
    "co_group": CoGroupWindow(lambda lefts, rights: [(list(lefts), list(rights))], "co_group"),
}


def spec_of(function: str, keyed: KeyPartition) -> WindowOperator:
    return WindowOperator(TumblingEventTimeWindows(10), EventTimeTrigger(), None, FUNCTIONS[function], keyed=keyed)


def taken(alone: Alone, elements: list[Any]) -> Alone:
    for time, element in enumerate(elements):
        alone.take(element, time)
    return alone


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_join_goes_on_with_pairs(function: str, native: bool) -> None:
    before, now = taken(Alone(spec_of(function, BEFORE)), OLD), Alone(Compilation().operator(spec_of(function, NOW)))
    carry_over(before.state, now.state)
    if native:
        stage = now.live.keyed_stage(_native, 0)
        run = stage.run, [now.live], lambda batch: None, now.take, stage.flush, stage.leave
        Segment(_native, *run).take_all(_native.Batch.of(NEW, list(range(len(NEW)))))
    else:
        taken(now, NEW)
    now.watermark(MAX_WATERMARK)
    joined = [("a", 1, 10), ("a", 1, 30), ("a", 3, 10), ("a", 3, 30), ("a", 4, 10), ("a", 4, 30), ("b", 2, 20)]
    grouped = [
        ([("a", 1), ("a", 3), ("a", 4)], [("a", 10), ("a", 30)]),
        ([("b", 2)], [("b", 20)]),
        ([], [("c", 40)]),
    ]
    assert sorted(now.results, key=repr) == sorted(
        [(result, 9) for result in (joined if function == "join" else grouped)], key=repr
    )
