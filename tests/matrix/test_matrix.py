"""Every program of the suite gives the same under a sample of the settings, in this process. `make matrix` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.settings.settings import TABLE
from tests.effort import one_of
from tests.matrix.body import check, local
from tests.matrix.knobs import CLOCK, DEFAULT, EXACT, KNOBS, Setting, covering, everything, pairs_of
from tests.matrix.programs import cases
from tests.matrix.sensitive import SENSITIVITIES, Sensitivity

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = 514
REFUSED = "refused_event_time_trigger_on_global"
PARTS = 16
SAMPLE = covering()
STEP = one_of(len(SAMPLE))
"""Each program gets one setting of the sample, the next program the next one."""
ONE_OF = one_of(8)
"""One in so many programs."""
INEXACT = [setting for setting in everything() if all(setting[knob] == DEFAULT[knob] for knob in EXACT)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_programs_give_the_same(part: int) -> None:
    checked = 0
    for index, name in list(enumerate(cases()))[part :: PARTS * ONE_OF]:
        for setting in SAMPLE[index % STEP :: STEP]:
            checked += not check(name, setting).refused
    assert checked > 0.9 * (len(SAMPLE) // STEP) * (PROGRAMS // (PARTS * ONE_OF))


def test_the_sample_has_every_pair_of_values() -> None:
    pairs = set().union(*map(pairs_of, everything()))
    assert pairs == set().union(*map(pairs_of, SAMPLE))
    assert len(pairs) == sum(
        len(a) * len(b) for i, a in enumerate(KNOBS.values()) for b in list(KNOBS.values())[i + 1 :]
    )
    assert len(SAMPLE) <= 2 * max(len(a) * len(b) for a in KNOBS.values() for b in KNOBS.values() if a is not b)


def test_every_setting_of_ours_is_a_knob_but_those_that_cannot_be() -> None:
    """Combining lets a reduction count fewer records as read; tests/datastream/test_batch_mode.py varies it. How much
    memory state on disk has belongs to the knob that puts it there. Functions of batches see how large these are. What
    tasks import and where stores are is no choice."""
    ours = {setting.key for setting in TABLE if setting.part == "runtime" and setting.key.startswith("penstock.")}
    assert ours - KNOBS.keys() == {
        "penstock.exchange.combine",
        "penstock.state.memory",
        "penstock.batches.size",
        "penstock.runtime.imports",
        "penstock.storage.options",
    }


@pytest.mark.slow
def test_programs_are_all_there_and_run_as_they_are() -> None:
    """Some of them, but in `make sweep`: the scripts among them run in test_run_scripts.py, too."""
    assert len(cases()) == PROGRAMS
    names = {*list(cases())[:: one_of(16)], REFUSED}
    assert {name for name in names if local(name, tuple(DEFAULT.items())).refused} == {REFUSED}


@pytest.mark.slow
@pytest.mark.parametrize("sensitivity", SENSITIVITIES, ids=lambda sensitivity: sensitivity.reason[:40])
def test_programs_that_may_differ_do(sensitivity: Sensitivity) -> None:
    """Each in every knob it is said to be sensitive to: there are two settings apart in this knob that differ."""
    for name in sorted(sensitivity.programs)[:: one_of(2)]:
        for knob in sensitivity.knobs - {CLOCK}:
            assert any(differs(name, setting, knob) for setting in INEXACT), (name, knob)


def differs(name: str, setting: Setting, knob: str) -> bool:
    result, default = (local(name, tuple(settings.items())) for settings in (setting, {**setting, knob: DEFAULT[knob]}))
    return result.promised() != default.promised()


def test_reasons_are_documented() -> None:
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    assert SENSITIVITIES
    assert [sensitivity.reason for sensitivity in SENSITIVITIES if f"| {sensitivity.reason} |" not in limits] == []
