"""States that expire, in native code against the operators in Python: results, the times of values, and what is removed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Time
from penstock.datastream import StateTtlConfig
from tests.runtime.operators.operators_alone import Alone
from tests.runtime.operators.test_native_process import RARE, RECORD, BothProcesses, operator, steps_of
from tests.runtime.operators.written_functions import BODY, written
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


def expiring(millis: int, update: Any, visibility: Any, cleanup: int | None, in_snapshots: bool) -> Callable[[Any], None]:
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


@pytest.mark.parametrize("both", [False, True])
@settings(deadline=None)
@given(data=st.data(), tracked=st.booleans(), steps=steps_of(RECORD | RARE), lifetime=LIFETIMES)
def test_written_functions_whose_states_expire(both, data, tracked, steps, lifetime):
    names = ["process_element1", "process_element2"] if both else ["process_element"]
    spec = operator(written({name: data.draw(BODY) for name in [*names, "on_timer"]}, expiring(*lifetime)))
    assert spec.programs is not None
    follow(BothLiving(spec, tracked, ordered=lifetime[3] is not None), steps)
