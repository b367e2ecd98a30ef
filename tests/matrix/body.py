"""The one test body of the matrix."""

from __future__ import annotations

from functools import cache
from typing import Any

from penstock.local import LocalExecutor
from tests.matrix.knobs import CLOCK, DEFAULT, EXACT, Setting
from tests.matrix.programs import Outcome, cases
from tests.matrix.sensitive import KNOBS_OF, REFUSED_ON_SPARK, TRIED_BY_SPARK


def check(name: str, setting: Setting, executor: Any = None) -> Outcome:
    """Run a program with a setting, and compare."""
    knobs = KNOBS_OF.get(name, frozenset())
    exact = {knob: DEFAULT[knob] if knob in EXACT else value for knob, value in setting.items()}
    plain = local(name, tuple(exact.items()))
    outcome = (
        plain if executor is None and exact == setting else cases()[name].run(setting, executor or LocalExecutor())
    )
    if executor is not None and name in REFUSED_ON_SPARK:
        assert outcome.refused, (name, setting)
    elif executor is not None and name in TRIED_BY_SPARK:
        assert not outcome.refused, (name, setting)
    elif CLOCK in knobs:
        assert outcome.promised(timed=True) == plain.promised(timed=True), (name, setting)
    else:
        assert outcome == plain, (name, setting)
    limited = {knob: value if knob in knobs else DEFAULT[knob] for knob, value in setting.items()}
    assert plain.promised() == local(name, tuple(limited.items())).promised(), (name, setting)
    return outcome


@cache
def local(name: str, setting: tuple[tuple[str, Any], ...]) -> Outcome:
    """What a program gives in this process."""
    return cases()[name].run(dict(setting), LocalExecutor())
