"""States that expire, in native code against the operators in Python: results, times, and what is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.datastream import StateTtlConfig
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.test_native_process import RARE, RECORD, BothProcesses, operator
from tests.runtime.operators.written_functions import BODY, OF_STATES, written
from tests.runtime.windows.test_native_windows import follow

UPDATES = [StateTtlConfig.UpdateType.OnCreateAndWrite, StateTtlConfig.UpdateType.OnReadAndWrite]
VISIBILITIES = list(StateTtlConfig.StateVisibility)
LIFETIMES = st.tuples(
    st.integers(1, 12),
    st.sampled_from(UPDATES),
    st.sampled_from(VISIBILITIES),
    st.sampled_from([None, 1, 2, 5, 5, 1_000]),
    st.booleans(),
)


def expiring(
    millis: int, update: Any, visibility: Any, cleanup: int | None, in_snapshots: bool
) -> Callable[[Any], None]:
    """What gives a descriptor a time to live."""
    builder = StateTtlConfig.new_builder(Time.milliseconds(millis))
    builder.set_update_type(update).set_state_visibility(visibility)
    if in_snapshots:
        builder.cleanup_full_snapshot()
    if cleanup is None:
        builder.disable_cleanup_in_background()
    elif cleanup != 5:
        builder.cleanup_incrementally(cleanup, False)
    config = builder.build()
    return lambda descriptor: descriptor.enable_time_to_live(config)


def order_of(alone: Alone) -> Any:
    """The keys of each state in order, and those of each of its maps."""
    tables = {name: table for name, namespaces in alone.state.tables() for table in namespaces.values() if table}
    return {
        name: [(key, list(value) if isinstance(value, dict) else None) for key, value in table.items()]
        for name, table in tables.items()
    }


@dataclass
class BothLiving(BothProcesses):
    """Those whose states expire, where clean-up in the background makes the order of keys matter."""

    ordered: bool = False

    def check_state(self) -> None:
        super().check_state()
        if self.ordered:
            assert order_of(self.native) == order_of(self.python)


TAKEN = st.tuples(st.just("take"), st.lists(RECORD, min_size=3, max_size=10))
DOUBTFUL = st.tuples(st.just("take"), st.lists(RECORD | RARE, min_size=1, max_size=3))
WAITED = st.tuples(st.just("wait"), st.integers(0, 5))
OTHER = st.one_of(
    st.tuples(st.just("watermark"), st.integers(-20, 60)),
    st.tuples(st.sampled_from(["settle", "flush", "change sides"]), st.just(0)),
    DOUBTFUL,
)
STEPS = st.lists(st.one_of(TAKEN, TAKEN, WAITED, WAITED, OTHER), min_size=6, max_size=20)
STATEMENTS = st.lists(st.tuples(st.integers(-1, 1), st.sampled_from(OF_STATES)), min_size=2, max_size=8)


@pytest.mark.parametrize("both", [False, True])
@settings(deadline=None)
@given(data=st.data(), tracked=st.booleans(), steps=STEPS, lifetime=LIFETIMES)
def test_written_functions_whose_states_expire(both, data, tracked, steps, lifetime):
    names = ["process_element1", "process_element2"] if both else ["process_element"]
    bodies = {name: data.draw(STATEMENTS) for name in names}
    spec = operator(written({**bodies, "on_timer": data.draw(BODY)}, expiring(*lifetime)))
    assert spec.programs is not None
    follow(BothLiving(spec, tracked, ordered=lifetime[3] is not None), steps)


WIDE = {
    "process_element": [
        (0, "self.number.update(value[1])"),
        (1, "self.pairs.add(value)"),
        (2, "self.map.put(value[1], value)"),
        (3, "self.number.value()"),
        (3, "yield value[0], [*self.map.items()], list(self.pairs)"),
        (-1, "yield value[0], self.number.value() if value[1] > 4 else None"),
    ]
}


@pytest.mark.parametrize("visibility", VISIBILITIES)
@pytest.mark.parametrize("cleanup", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_look_at_values_goes_on_where_it_was(visibility, cleanup, seed):
    random = Random(seed)
    both = BothLiving(operator(written(WIDE, expiring(8, UPDATES[0], visibility, cleanup, False))), ordered=True)
    for _ in range(40):
        both.take([((random.choice("abcdefgh"), random.randrange(8)), 0) for _ in range(random.randrange(1, 12))])
        both.check()
        both.clock += random.choice([0, 0, 1, 4])
        both.wait_until(both.clock)
        if random.random() < 0.3:
            both.stage.flush()
        if random.random() < 0.5:
            both.check_state()
    assert both.native.results
