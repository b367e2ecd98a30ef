"""An error of an executor comes to the driver as plain data, whatever stands in the records that it quotes."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from penstock import errors
from penstock.errors import InvalidProgramError, JobExecutionError, PenstockError, StandInError, TypeInfoError
from penstock.runtime.config.tasks import OperatorConfig
from penstock.runtime.usercode.failure import OperatorFailure, job_error
from penstock.spark.failures import local_failure, remote_failure
from tests.spark.hostile import hostile_texts

MARK = "0123456789abcdef" * 2


def arrived(*chain: BaseException) -> Any:
    """What the driver makes of a job error with these causes, outermost first."""
    error = JobExecutionError("the job failed", operator="map", subtask=1)
    for effect, cause in zip([error, *chain], chain, strict=False):
        effect.__cause__ = cause
    return local_failure(RuntimeError(f"Spark says: {remote_failure(error, MARK)} and more"), MARK)


def failed_on(record: Any, function: Any = int) -> Any:
    """What the driver makes of a function that fails on a record."""
    try:
        function(record)
    except Exception as error:
        failure = job_error(
            OperatorFailure(OperatorConfig(1, "0" * 32, "map", "u", 128, b""), error), "map (1/1)", 0, 2
        )
        return local_failure(RuntimeError(f"PythonException: {remote_failure(failure, MARK)}\n\tat java"), MARK)
    raise AssertionError("the function has not failed")


@pytest.mark.parametrize("what", hostile_texts(Path("x")))
def test_a_record_runs_nothing_and_forges_nothing(tmp_path, what):
    marker = tmp_path / "owned"
    text = hostile_texts(marker)[what]

    def quoting(value):
        raise ValueError(value)

    for function in (int, float, quoting, {}.__getitem__):
        failure = failed_on(text, function)
        assert (type(failure), failure.operator, failure.uid, failure.attempt) == (JobExecutionError, "map", "u", 2)
        assert type(failure.__cause__) in (ValueError, KeyError, UnicodeEncodeError)
        assert len(str(failure)) < 200_000
        failure_text = str(failure.__cause__)
        assert len(failure_text) < 100_000
    assert not marker.exists()


@pytest.mark.parametrize("what", hostile_texts(Path("x")))
def test_a_text_of_spark_runs_nothing(tmp_path, what):
    marker = tmp_path / "owned"
    error = RuntimeError(hostile_texts(marker)[what])
    failure = local_failure(error, MARK)
    assert type(failure) is JobExecutionError
    assert failure.__cause__ is error
    assert not marker.exists()


@pytest.mark.parametrize(
    "details",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"failure": 5, "causes": []}',
        '{"failure": {"penstock": "__import__"}, "causes": []}',
        '{"failure": {"penstock": "Any", "text": "x", "attributes": {}, "notes": []}, "causes": []}',
        '{"failure": {"kind": "builtins.eval", "arguments": {"tuple": ["1"]}, "notes": []}, "causes": []}',
        '{"failure": {"kind": "builtins.ValueError", "arguments": {"set": ["1"]}, "notes": []}, "causes": []}',
        "[" * 100_000,
    ],
)
def test_details_of_another_form_are_text(details):
    failure = local_failure(RuntimeError(f"what happened\nDetails for the driver: {MARK} {details}"), MARK)
    assert type(failure) is JobExecutionError
    assert str(failure).startswith("what happened")
    assert MARK not in str(failure)


def test_all_causes_arrive_in_order():
    failure = arrived(OSError("in map"), KeyError("why"), ValueError("deepest"))
    assert (failure.operator, failure.subtask) == ("map", 1)
    assert repr(failure.__cause__) == "OSError('in map')"
    assert repr(failure.__cause__.__cause__) == "KeyError('why')"
    assert repr(failure.__cause__.__cause__.__cause__) == "ValueError('deepest')"
    assert failure.__cause__.__cause__.__cause__.__cause__ is None


def test_a_failure_without_a_cause_has_none():
    assert arrived().__cause__ is None


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad", 5, 1.5, None, True, (1, "two"), b"\x00\xff"),
        ValueError(),
        KeyError("a key"),
        FileNotFoundError(2, "No such file", "/data/x"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        ZeroDivisionError("division by zero"),
        RuntimeError(["a", "list"]),
    ],
    ids=repr,
)
def test_a_built_in_exception_arrives_as_itself(error):
    cause = arrived(error).__cause__
    assert (type(cause), cause.args, str(cause)) == (type(error), error.args, str(error))
    assert getattr(cause, "filename", None) == getattr(error, "filename", None)


@pytest.mark.parametrize(
    "error",
    [
        InvalidProgramError("wrong", flink_class="java.lang.RuntimeException"),
        TypeInfoError("no str"),
        errors.UnknownFieldError("no field"),
        errors.MissingMethodError("no method", name="sink"),
        errors.JobGraphError("a circle", operators=("a", "b")),
        errors.FlinkSavepointError("damaged", file="_metadata", position=7),
        JobExecutionError(
            "inner", operator="o", uid="u", operator_id="1", task="t", subtask=1, attempt=2, function="f"
        ),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_ours_arrives_as_itself(error):
    cause = arrived(error).__cause__
    assert (type(cause), str(cause), vars(cause)) == (type(error), str(error), vars(error))


def test_every_error_of_ours_can_arrive():
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, PenstockError)]
    for cls in set(classes) - {StandInError}:
        error = cls.__new__(cls, "text")
        Exception.__init__(error, "text")
        assert type(arrived(error).__cause__) is cls


class Odd(Exception):
    """Of the user's, with a constructor of its own."""

    def __init__(self, value: int, why: str) -> None:
        super().__init__(f"{value} is {why}")


class Sly(ValueError):
    """Named like nothing else; a subclass of a built-in exception."""


def test_another_exception_has_a_stand_in_with_its_class_text_and_lines():
    def strange(value):
        raise Odd(value, "strange") from Sly("deeper")

    failure = failed_on(1, strange)
    cause: Any = failure.__cause__
    assert type(cause) is StandInError
    assert (cause.kind, cause.text) == (f"{__name__}.Odd", "1 is strange")
    assert str(cause) == f"{__name__}.Odd: 1 is strange"
    assert 'raise Odd(value, "strange")' in cause.traceback
    deeper: Any = cause.__cause__
    assert deeper.kind == f"{__name__}.Sly"
    assert "1 is strange" in str(failure)


@pytest.mark.parametrize(
    "argument", [threading.Lock(), {1, 2}, {"a": 1}, object], ids=lambda argument: type(argument).__name__
)
def test_an_exception_with_other_arguments_has_a_stand_in(argument):
    cause: Any = arrived(ValueError(argument)).__cause__
    assert (cause.kind, cause.text) == ("builtins.ValueError", str(argument))


def test_a_stand_in_arrives_as_itself():
    cause: Any = arrived(StandInError("a.B", "text", "lines")).__cause__
    assert (cause.kind, cause.text, cause.traceback, str(cause)) == ("a.B", "text", "lines", "a.B: text")


def test_an_exception_whose_text_fails_arrives():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no")

    cause: Any = arrived(Mute()).__cause__
    assert "cannot be shown" in cause.text


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have notes from Python 3.11 on")
def test_notes_arrive():
    error: Any = ValueError("bad")
    error.add_note("look here")
    assert arrived(error).__cause__.__notes__ == ["look here"]


def test_causes_in_a_circle_come_to_an_end():
    first, second = OSError("first"), OSError("second")
    second.__cause__ = first
    failure = arrived(first, second)
    assert [str(failure.__cause__), str(failure.__cause__.__cause__)] == ["first", "second"]


def test_very_many_causes_are_cut_off():
    failure = arrived(*(ValueError("x" * 15_000, number) for number in range(100)))
    number = 0
    cause = failure.__cause__
    while cause is not None:
        assert cause.args[1] == number
        number, cause = number + 1, cause.__cause__
    assert 5 < number <= 20


def test_workers_without_penstock_are_explained():
    failure = local_failure(RuntimeError("Traceback …\nModuleNotFoundError: No module named 'penstock'"), MARK)
    assert "set PYSPARK_PYTHON" in str(failure)


def test_more_results_than_the_driver_takes_are_explained():
    text = (
        "Job aborted: Total size of serialized results of 3 tasks is bigger than spark.driver.maxResultSize 192.0 MiB"
    )
    failure = local_failure(RuntimeError(f"{text}\n\tat java.lang.Thread.run"), MARK)
    assert "Write to files instead, or set spark.driver.memory" in str(failure)
    assert "java" not in str(failure)
