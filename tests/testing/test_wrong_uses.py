"""Wrong uses of a harness: each is refused with what to do."""

from __future__ import annotations

import pytest

from penstock.common import Configuration
from penstock.errors import InvalidProgramError, UnsupportedError
from penstock.testing import OneInputTestHarness, OperatorSnapshot
from tests.testing.counting import Upper, count_harness, itself

WRONG = {
    "no operator": (lambda: OneInputTestHarness(itself), InvalidProgramError, "has no operator, and a"),
    "two operators": (
        lambda: OneInputTestHarness(lambda s: s.map(len).name("A").map(len).name("B")),
        InvalidProgramError,
        r"has 2 operators \('A', 'B'\)",
    ),
    "a built-in sink": (lambda: OneInputTestHarness(lambda s: s.print()), UnsupportedError, "'Print to Std. Out'"),
    "no stream": (lambda: OneInputTestHarness(lambda s: 3), InvalidProgramError, "returned 3. Return the stream"),
    "BATCH mode": (
        lambda: count_harness(configuration=Configuration.from_dict({"execution.runtime-mode": "BATCH"})),
        UnsupportedError,
        r"run_program\(\)",
    ),
    "a subtask too far": (
        lambda: count_harness(parallelism=2, subtask=2),
        InvalidProgramError,
        "subtask 2 of an operator that has 2",
    ),
    "a clock that goes back": (
        lambda: [count_harness().set_processing_time(time) for time in (0, -1)],
        InvalidProgramError,
        r"set_processing_time\(-1\): the clock is at 0 already",
    ),
    "a text as a timestamp": (
        lambda: count_harness().process_element("a", "1"),
        InvalidProgramError,
        "process_element.*timestamp",
    ),
    "a watermark that is no number": (
        lambda: count_harness().process_watermark(None),
        InvalidProgramError,
        "process_watermark",
    ),
    "a tag's name": (
        lambda: count_harness().get_side_output("late"),
        InvalidProgramError,
        "'late'. Give the OutputTag",
    ),
    "a list of snapshots": (
        lambda: count_harness().restore([]),
        InvalidProgramError,
        r"restore\(\) was given \[\], which is not a snapshot. .* restore\(\*snapshots\)",
    ),
    "restoring when open": (
        lambda: count_harness().open().restore(),
        InvalidProgramError,
        r"restore\(\): the harness of 'KeyedProcess' is open",
    ),
    "other key groups": (
        lambda: count_harness(max_parallelism=4).restore(OperatorSnapshot(None, {}, 128, 0)),
        InvalidProgramError,
        "128 key groups, the operator 'KeyedProcess' 4",
    ),
    "keyed state without a key": (
        lambda: OneInputTestHarness(lambda s: s.process(Upper())).restore(count_harness().snapshot()),
        InvalidProgramError,
        "the input of 'Process' is not keyed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_uses_say_what_to_do(name: str) -> None:
    call, error, says = WRONG[name]
    with pytest.raises(error, match=says):
        call()
