"""What becomes of the states of an operator whose objects have lost their class."""

from __future__ import annotations

import pytest

from penstock.job.restore.verdicts import LOST, REFUSED, UNKNOWN, Holding, Known, verdicts
from penstock.runtime.state.keyed import StateInfo

CLASS = "no_such_module_at_all:Thing"


def known(name: str) -> Known:
    return Known(StateInfo(name, "ValueState", (), ("",)), late=True)


@pytest.mark.parametrize(
    ("asked", "allow", "expected"),
    [
        (("kept", "gone"), False, {CLASS: REFUSED}),
        (("kept", "gone"), True, {CLASS: REFUSED}),
        (("kept",), False, {CLASS: REFUSED, "gone": LOST}),
        (("kept",), True, {CLASS: UNKNOWN, "gone": LOST}),
    ],
)
def test_a_state_goes_with_its_class_if_nobody_asks_for_it(asked, allow, expected) -> None:
    saved = Holding([known("kept"), known("gone")], "", classes={CLASS: {"kind": "object"}})
    judged = verdicts(saved, Holding(list(map(known, asked)), ""), allow=allow)
    outcomes = {verdict.state: verdict.outcome for verdict in judged}
    assert {name: outcomes[name] for name in expected} == expected
