"""An exception's causes travel to the driver with it."""

from __future__ import annotations

import threading

from penstock.errors import JobExecutionError
from penstock.spark.failures import local_failure, remote_failure


def arrived(*chain):
    """What the driver makes of a job error with these causes, outermost first."""
    error = JobExecutionError("the job failed", operator="map", subtask=1)
    for effect, cause in zip([error, *chain], chain, strict=False):
        effect.__cause__ = cause
    return local_failure(RuntimeError(f"Spark says: {remote_failure(error)} and more"))


def test_all_causes_arrive_in_order():
    failure = arrived(OSError("in map"), KeyError("why"), ValueError("deepest"))
    assert (failure.operator, failure.subtask) == ("map", 1)
    assert repr(failure.__cause__) == "OSError('in map')"
    assert repr(failure.__cause__.__cause__) == "KeyError('why')"
    assert repr(failure.__cause__.__cause__.__cause__) == "ValueError('deepest')"
    assert failure.__cause__.__cause__.__cause__.__cause__ is None


def test_a_cause_that_cannot_travel_does_not_keep_the_exception_back():
    failure = arrived(OSError("in map"), ValueError(threading.Lock()))
    assert repr(failure.__cause__) == "OSError('in map')"
    assert failure.__cause__.__cause__ is None


def test_an_exception_that_cannot_travel_is_text():
    assert "could not be pickled" in str(arrived(ValueError(threading.Lock())).__cause__)


def test_causes_in_a_circle_come_to_an_end():
    first, second = OSError("first"), OSError("second")
    second.__cause__ = first
    failure = arrived(first, second)
    assert [str(failure.__cause__), str(failure.__cause__.__cause__)] == ["first", "second"]


def test_workers_without_penstock_are_explained():
    failure = local_failure(RuntimeError("Traceback …\nModuleNotFoundError: No module named 'penstock'"))
    assert "set PYSPARK_PYTHON" in str(failure)


def test_an_exception_that_the_driver_cannot_build_is_text(monkeypatch):
    sent = str(remote_failure(JobExecutionError("what happened where", operator="map")))
    monkeypatch.setattr("penstock.spark.failures.pickle.loads", lambda data: 1 // 0)
    failure = local_failure(RuntimeError(sent))
    assert "what happened where" in str(failure)
    assert "[penstock-failure" not in str(failure)


def test_more_results_than_the_driver_takes_are_explained():
    text = (
        "Job aborted: Total size of serialized results of 3 tasks is bigger than spark.driver.maxResultSize 192.0 MiB"
    )
    failure = local_failure(RuntimeError(f"{text}\n\tat java.lang.Thread.run"))
    assert "Write to files instead, or set spark.driver.memory" in str(failure)
    assert "java" not in str(failure)
