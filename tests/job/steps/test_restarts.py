"""How often a step that Spark has lost is run again: as docs/streaming.md and docs/operations.md say."""

from __future__ import annotations

from penstock.common.settings.settings import Settings
from penstock.errors import JobExecutionError, StepLostError
from penstock.job.steps.interruptions import Restarts

LOST = StepLostError("Spark has lost a process that ran tasks.")


def test_four_losses_in_a_row_are_made_good_and_the_fifth_ends_the_job() -> None:
    restarts = Restarts(Settings())
    assert [restarts.delay_after(LOST) for _ in range(5)] == [100, 200, 300, 400, None]
    error = restarts.given_up(LOST)
    assert isinstance(error, StepLostError)
    assert str(error).startswith(f"{LOST} 5 steps in a row ended like this, and the job with them.")
    assert restarts.count == 0, "none was the program's fault"


def test_a_version_between_two_losses_makes_them_none_in_a_row() -> None:
    restarts = Restarts(Settings())
    for _ in range(3):
        assert [restarts.delay_after(LOST) for _ in range(4)] == [100, 200, 300, 400]
        restarts.stepped()


def test_an_error_of_the_program_stays_as_it_is() -> None:
    restarts = Restarts(Settings())
    error = JobExecutionError("the program's")
    assert restarts.delay_after(error) is None
    assert restarts.given_up(error) is error
