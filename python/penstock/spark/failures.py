"""Failures on their way from an executor to the driver.

Spark hands over the text of an exception and nothing else. So the executor puts the whole error, pickled, between two
marks in the text, and the driver takes it out again, with its causes (``raise … from``), which pickle leaves out. An
exception that cannot be pickled arrives as text only.
"""

from __future__ import annotations

import base64
import pickle
import re
import sys

from penstock.errors import JobExecutionError, PenstockError

_BEGIN, _END = "[penstock-failure ", "]"
_PATTERN = re.compile(re.escape(_BEGIN) + r"([A-Za-z0-9+/=]+)" + re.escape(_END))
_MAX_BYTES = 256 << 10


class RemoteFailure(Exception):
    """What the executor raises: the message for logs, and the error itself for the driver."""


def remote_failure(error: PenstockError) -> RemoteFailure:
    """The exception to raise on an executor."""
    import cloudpickle

    causes = _causes(error)
    for travelling in (causes, causes[:1], []):  # an innermost cause must not keep the user's exception back
        try:
            data = cloudpickle.dumps((error, travelling), 5)
            pickle.loads(data)  # some exceptions pickle and then cannot be built again
        except Exception:
            continue
        if len(data) <= _MAX_BYTES:
            break
    text = base64.b64encode(data).decode()
    return RemoteFailure(f"{error}\n{_BEGIN}{text}{_END}")


def _causes(error: BaseException) -> list[BaseException]:
    """The explicit causes of an exception, outermost first; each one once."""
    found: list[BaseException] = []
    cause = error.__cause__
    while cause is not None and not any(cause is each for each in found):
        found.append(cause)
        cause = cause.__cause__
    return found


def local_failure(error: BaseException) -> PenstockError:
    """The error to raise on the driver for what Spark raised there."""
    text = str(error)
    found = _PATTERN.search(text)
    if found is None and "spark.driver.maxResultSize" in text:
        return JobExecutionError(
            "The job prints or collects more than Spark's driver has memory for. Write to files instead, or set "
            "spark.driver.memory to six times as much as the job prints and collects (spark.driver.maxResultSize is a "
            "fifth of it, unless you set that too)."
        )
    if found is None:
        what = " ".join(filter(None, [advice(text), f"{type(error).__name__}: {text.strip()}"]))
        return JobExecutionError(f"Spark could not run the job: {what}")
    try:
        failure, causes = pickle.loads(base64.b64decode(found.group(1)))
    except Exception:  # its class exists on the executors only, say
        return JobExecutionError(_PATTERN.sub("", text).strip())
    if not causes and isinstance(failure, JobExecutionError):
        causes = [
            RuntimeError("the user's exception could not be pickled; its text is in the message of the job's failure")
        ]
    for effect, cause in zip([failure, *causes], causes, strict=False):
        effect.__cause__ = cause
    return failure


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
        "the same, as they name it there."
    ),
    ("Cannot run program",): (
        "its workers have no such Python as they were told to run. Set PYSPARK_PYTHON (or spark.pyspark.python) to the "
        "path of one as they name it."
    ),
}
"""What to do, by what stands in Spark's text."""


def advice(text: str) -> str:
    """What to do about a Python that Spark's workers cannot run tasks with; nothing where the text is of something
    else.

    Args:
        text: of Spark's exception.
    """
    return next((needs for signs, needs in _NEEDS.items() if any(sign in text for sign in signs)), "")
