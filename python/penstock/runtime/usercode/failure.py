"""From an exception in a user function to a :class:`~penstock.errors.JobExecutionError` that says where it happened.

The innermost operator wraps the exception once (:class:`OperatorFailure`); the task adds its own name. The message
shows the user's exception with the lines of the user's code, without the frames of the runtime.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from penstock.errors import JobExecutionError, PenstockError
from penstock.runtime.config.tasks import OperatorConfig

_RUNTIME = str(Path(__file__).resolve().parents[1])
_MAX_FRAMES = 20
_MAX_TEXT = 20_000
"""Characters of an exception's text that are shown; it may contain a whole record."""


class OperatorFailure(Exception):
    """An exception on its way out of an operator.

    Attributes:
        config: the operator.
        error: the exception its user function (or the operator itself) raised.
    """

    def __init__(self, config: OperatorConfig, error: BaseException) -> None:
        super().__init__(config, error)
        self.config = config
        self.error = error


def state_error(function: str, state: str) -> PenstockError:
    """The error of a function that combines values inside a state; raise it from the function's own exception."""
    return PenstockError(f"Exception while applying {function} in {state} state", flink_class="java.io.IOException")


def user_traceback(error: BaseException) -> str:
    """The exception as Python prints it, with the runtime's own frames left out and at most the last 20 kept."""
    shown = traceback.TracebackException.from_exception(error)
    current: traceback.TracebackException | None = shown
    while current is not None:
        frames = [f for f in current.stack if not f.filename.startswith(_RUNTIME)]
        current.stack = traceback.StackSummary.from_list(frames[-_MAX_FRAMES:])
        current = current.__cause__ or current.__context__
    return _shortened("".join(shown.format()).rstrip())


def _shortened(text: str) -> str:
    half = _MAX_TEXT // 2
    return text if len(text) <= _MAX_TEXT else f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"


def _text(error: BaseException) -> str:
    try:
        return _shortened(str(error))
    except Exception:  # a user's own __str__
        return "(its text cannot be shown: str() of it fails)"


def job_error(failure: OperatorFailure, task: str, subtask: int, attempt: int) -> JobExecutionError:
    """The error that the user sees; its ``__cause__`` is the user's exception."""
    config, error = failure.config, failure.error
    uid = f" (uid {config.uid!r})" if config.uid else ""
    message = (
        f"Operator {config.name!r}{uid} with the ID {config.operator_id} failed in task {task!r}, subtask {subtask}, "
        f"attempt {attempt}: {type(error).__name__}: {_text(error)}\n{user_traceback(error)}"
    )
    result = JobExecutionError(
        message,
        operator=config.name,
        uid=config.uid,
        operator_id=config.operator_id,
        task=task,
        subtask=subtask,
        attempt=attempt,
    )
    result.__cause__ = error
    return result


def exit_error(error: SystemExit, task: str, subtask: int, attempt: int) -> JobExecutionError:
    """The error for a function that called ``sys.exit``."""
    return JobExecutionError(
        f"A function in task {task!r}, subtask {subtask}, attempt {attempt} called sys.exit({error.code!r}). It cannot "
        f"end the program; raise an exception to fail the job.\n{user_traceback(error)}",
        task=task,
        subtask=subtask,
        attempt=attempt,
    )
