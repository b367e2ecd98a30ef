"""Failures on their way from an executor to the driver.

Spark hands over only the text of an exception, which may quote what a stranger wrote. So the executor puts the error
into its text as JSON, behind a mark that the driver has chosen at random for the job. The driver makes it again from
these plain data (:mod:`.plain_errors`), with its causes; nothing is unpickled.
"""

from __future__ import annotations

import json
import sys

from penstock.errors import JobExecutionError, PenstockError
from penstock.spark.plain_errors import as_data, from_data

_MAX_CAUSES = 20
_MAX_CHARACTERS = 256 << 10


class RemoteFailure(Exception):
    """What the executor raises: the message for logs, and the error itself for the driver."""


def remote_failure(error: PenstockError, mark: str | None) -> RemoteFailure | JobExecutionError:
    """The exception to raise on an executor, from nothing, as Spark would add the texts of its causes, whole records
    among them. ``mark`` is that of the job; None where only a person reads the text."""
    text = str(error).encode("utf-8", "backslashreplace").decode("utf-8")  # PySpark loses what it cannot encode
    if mark is None:
        return JobExecutionError(text)
    failure, *causes = map(as_data, [error, *_causes(error)[:_MAX_CAUSES]])
    details = json.dumps({"failure": failure, "causes": causes})
    while causes and len(details) > _MAX_CHARACTERS:  # the innermost cause must not keep the others back
        causes.pop()
        details = json.dumps({"failure": failure, "causes": causes})
    return RemoteFailure(f"{text}\nDetails for the driver: {mark} {details}")


def _causes(error: BaseException) -> list[BaseException]:
    """The explicit causes of an exception, outermost first; each one once."""
    causes: list[BaseException] = []
    cause = error.__cause__
    while cause is not None and not any(cause is known for known in causes):
        causes.append(cause)
        cause = cause.__cause__
    return causes


def local_failure(error: BaseException, mark: str) -> PenstockError:
    """The error to raise on the driver for what Spark raised there, with its cause."""
    text = str(error)
    _, marked, details = text.partition(f"{mark} ")
    if marked:
        try:
            return _read(details)
        except Exception:  # cut off on its way, say
            failure = JobExecutionError(text.partition("\nDetails for the driver: ")[0].strip())
    elif "spark.driver.maxResultSize" in text:
        failure = JobExecutionError(
            "The job prints or collects more than Spark's driver has memory for. Write to files instead, or set "
            "spark.driver.memory to six times as much as the job prints and collects (spark.driver.maxResultSize is a "
            "fifth of it, unless you set that too)."
        )
    else:
        what = " ".join(filter(None, [advice(text), f"{type(error).__name__}: {text.strip()}"]))
        failure = JobExecutionError(f"Spark could not run the job: {what}")
    failure.__cause__ = error
    return failure


def _read(details: str) -> PenstockError:
    data, _ = json.JSONDecoder().raw_decode(details)
    errors = [from_data(described) for described in (data["failure"], *data["causes"])]
    for effect, cause in zip(errors, [*errors[1:], None], strict=True):
        effect.__cause__ = cause
    failure = errors[0]
    assert isinstance(failure, PenstockError)
    return failure


def is_sparks(error: BaseException | None) -> bool:
    """Whether an exception is one that Spark has raised on the driver."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    return isinstance(error, PySparkException | Py4JJavaError)


_NEEDS: dict[tuple[str, ...], str] = {
    ("No module named 'penstock'",): (
        "the Python of its workers does not have Penstock. Before the SparkSession starts, set PYSPARK_PYTHON (or "
        f"spark.pyspark.python) to a Python that does; the one of this program is {sys.executable}."
    ),
    ("No module named 'pyarrow'", "PyArrow >="): (
        "the Python of its workers does not have PyArrow, which Penstock cannot send. Install pyarrow>=18 there, or "
        "have Spark bring a packed environment (spark.archives and PYSPARK_PYTHON)."
    ),
    ("PYTHON_VERSION_MISMATCH",): (
        "the Python of its workers has another version than that of this program, "
        f"{sys.version_info.major}.{sys.version_info.minor}. Set PYSPARK_PYTHON (or spark.pyspark.python) to one with "
        "the same version on the workers."
    ),
    ("Cannot run program",): (
        "its workers do not have the Python that they were told to run. Set PYSPARK_PYTHON (or spark.pyspark.python) "
        "to the path of one on the workers."
    ),
}
"""What to do, by what stands in Spark's text."""


def advice(text: str) -> str:
    """What to do about a Python that Spark's workers cannot run tasks with; "" if the text is of something else."""
    return next((needs for signs, needs in _NEEDS.items() if any(sign in text for sign in signs)), "")
