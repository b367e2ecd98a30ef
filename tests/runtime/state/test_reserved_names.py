"""Names of states under which operators keep what is theirs."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.datastream import KeyedProcessFunction, ProcessWindowFunction, ValueStateDescriptor
from penstock.datastream.window import CountTumblingWindowAssigner
from penstock.errors import JobExecutionError
from penstock.runtime.operators import interval_join, reduce, window_contents
from penstock.runtime.state.store import RESERVED, TRIGGERS
from penstock.runtime.windows import merging_windows
from tests.running import collected, environment

NAMES = [*RESERVED, f"{TRIGGERS}count"]


def keyed():
    return environment().from_collection([1, 2, 3, 4], Types.LONG()).key_by(lambda number: number % 2, Types.LONG())


class Asking(KeyedProcessFunction):
    def __init__(self, name):
        self.name = name

    def open(self, context):
        context.get_state(ValueStateDescriptor(self.name))

    def process_element(self, value, ctx):
        yield value


class AskingPerWindow(ProcessWindowFunction):
    def __init__(self, name, whose):
        self.name, self.whose = name, whose

    def process(self, key, context, elements):
        getattr(context, self.whose)().get_state(ValueStateDescriptor(self.name)).update(1)
        yield key


def test_all_names_that_operators_use_are_reserved():
    used = {reduce.STATE, window_contents.STATE, merging_windows.STATE, interval_join.LEFT, interval_join.RIGHT}
    assert used == set(RESERVED)


@pytest.mark.parametrize("name", NAMES)
def test_a_state_cannot_have_the_name_of_an_operators_own(name):
    with pytest.raises(JobExecutionError, match=f"A state cannot be called '{name}': operators use this name for"):
        collected(keyed().process(Asking(name), Types.LONG()))


@pytest.mark.parametrize("whose", ["window_state", "global_state"])
@pytest.mark.parametrize("name", NAMES)
def test_nor_in_windows(name, whose):
    windows = keyed().window(CountTumblingWindowAssigner.of(2))
    with pytest.raises(JobExecutionError, match=f"A state cannot be called '{name}'"):
        collected(windows.process(AskingPerWindow(name, whose), Types.LONG()))


def test_names_that_are_like_them_are_free():
    assert sorted(collected(keyed().process(Asking("window-contents-2"), Types.LONG()))) == [1, 2, 3, 4]
