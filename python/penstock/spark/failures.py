"""Failures on their way from an executor to the driver.

Spark hands over the text of an exception and nothing else. So the executor puts the whole error, pickled, between two
marks in the text, and the driver takes it out again. An exception that cannot be pickled arrives as text only.
"""

from __future__ import annotations

import base64
import pickle
import re
from typing import Any

from penstock.errors import JobExecutionError

_BEGIN, _END = "[penstock-failure ", "]"
_PATTERN = re.compile(re.escape(_BEGIN) + r"([A-Za-z0-9+/=]+)" + re.escape(_END))
_MAX_BYTES = 256 << 10


class RemoteFailure(Exception):
    """What the executor raises: the message for logs, and the error itself for the driver."""


def remote_failure(error: JobExecutionError) -> RemoteFailure:
    """The exception to raise on an executor."""
    import cloudpickle

    cause: Any = error.__cause__
    try:
        data = cloudpickle.dumps((error, cause), 5)
        pickle.loads(data)  # some exceptions pickle and then cannot be built again
        if len(data) > _MAX_BYTES:
            raise ValueError("too large to travel in a message")
    except Exception:
        data = cloudpickle.dumps((error, None), 5)
    text = base64.b64encode(data).decode()
    return RemoteFailure(f"{error}\n{_BEGIN}{text}{_END}")


def local_failure(error: BaseException) -> JobExecutionError:
    """The error to raise on the driver for what Spark raised there."""
    text = str(error)
    found = _PATTERN.search(text)
    if found is None:
        return JobExecutionError(f"Spark could not run the job: {type(error).__name__}: {text.strip()}")
    failure, cause = pickle.loads(base64.b64decode(found.group(1)))
    if cause is None:
        cause = RuntimeError(
            "the user's exception could not be pickled; its text is in the message of the job's failure"
        )
    failure.__cause__ = cause
    return failure
