"""NumPy's numbers in state: what a program has put there it gets back, before a restore and after it."""

from __future__ import annotations

import pytest

from penstock.common import Types
from penstock.errors import InvalidProgramError
from penstock.runtime.checkpoint.state_series import save
from penstock.runtime.state.store import handle_of
from tests.runtime.state.evolving import ABOUT, elements, entries, get, put, reduction, reopened, value, written
from tests.runtime.state.evolving import fresh as fresh_state

numpy = pytest.importorskip("numpy")
LONG = Types.LONG()
FIVE = numpy.int64(5)
CASES = {
    "value": (lambda t: value(t), FIVE),
    "list": (lambda t: elements(t), [FIVE]),
    "map": (lambda t: entries(t, t), {FIVE: FIVE}),
    "reduction": (lambda t: reduction(t), FIVE),
}


def kinds(value):
    parts = [*value.items()] if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return [type(part) if not isinstance(part, tuple) else tuple(map(type, part)) for part in parts]


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("declared", [LONG, Types.DOUBLE(), None], ids=repr)
@pytest.mark.parametrize("case", CASES)
def test_a_restore_never_changes_what_a_program_sees(tmp_path, case, declared, disk):
    make, value = CASES[case]
    keyed = fresh_state(disk)
    handle = handle_of(keyed, make(declared))
    keyed.enter("k")
    put(handle, value)
    before = kinds(get(handle))
    assert before == kinds(value)
    chain = save(str(tmp_path), keyed, None, ABOUT, (), 1)
    keyed = reopened(tmp_path, chain, disk)
    handle = handle_of(keyed, make(declared))
    keyed.enter("k")
    assert kinds(get(handle)) == before


def test_a_value_that_a_restore_would_change_is_refused(tmp_path):
    chain = written(tmp_path, value(), {"k": FIVE})
    with pytest.raises(InvalidProgramError, match="it is an int64, not an int"):
        handle_of(reopened(tmp_path, chain), value(LONG))
