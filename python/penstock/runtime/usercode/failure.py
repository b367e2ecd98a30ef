"""From an exception in a user function to a :class:`~penstock.errors.JobExecutionError` that says where it happened.
The innermost operator wraps the exception once (:class:`OperatorFailure`); the task adds its own name. The message
shows the lines of the user's code, without the frames of the runtime."""

from __future__ import annotations

import traceback
from pathlib import Path
from types import FrameType, TracebackType

from penstock.errors import JobExecutionError, PenstockError
from penstock.runtime.config.tasks import OperatorConfig

_FILES = tuple({Path(__file__).absolute(), Path(__file__).resolve()})  # the package may be behind a link
_RUNTIME, _PACKAGE = (tuple(str(file.parents[up]) for file in _FILES) for up in (1, 2))
_HELPERS = {
    "BucketAssigner": "bucket assigner",
    "Encoder": "encoder",
    "Evictor": "evictor",
    "Trigger": "trigger",
    "WindowAssigner": "window assigner",
}
"""Code that an operator calls beside its function, by the name of its base class."""
_MAX_FRAMES = 20
_MAX_TEXT = 20_000  # characters of an exception's text that are shown; it may contain a whole record


class FunctionFailure(Exception):
    """An exception of a function beside the operator's own: a key selector, a partitioner, a timestamp assigner.
    ``function`` says what it is and where the program gives it, such as ``key selector of key_by() (line 3 of
    prog.py)``; ``place`` where it runs, as seen from the operator: behind, before, in."""

    def __init__(self, function: str, place: str, error: BaseException) -> None:
        super().__init__(function, place, error)
        self.function, self.place, self.error = function, place, error


def failure_of(function: str, place: str, error: Exception) -> Exception:
    """The failure of a function beside an operator; failures that have a name already pass."""
    return error if isinstance(error, (FunctionFailure, OperatorFailure)) else FunctionFailure(function, place, error)


class OperatorFailure(Exception):
    """An exception on its way out of an operator: of its function, or of another one beside it, then named in
    ``function``. ``error`` is the user's exception; ``subject`` who has failed, as a message says it."""

    def __init__(self, config: OperatorConfig, error: BaseException) -> None:
        super().__init__(config, error)
        self.config = config
        self.function: str | None = None
        self.subject = f"Operator {config.name!r}"
        if isinstance(error, FunctionFailure):
            place = "" if "(line " in error.function else _place(error.error)
            self.function = error.function + place
            self.subject = f"The {self.function} {error.place} operator {config.name!r}"
            error = error.error
        elif helper := _helper(error):
            self.function = helper
            self.subject = f"The {helper} in operator {config.name!r}"
        self.error = error


def _helper(error: BaseException) -> str | None:
    """The part of a program's own trigger, encoder and the like that failed, by the frames of the exception: the first
    that is not ours, called with such an object or by one of ours. It costs nothing where nothing fails."""
    theirs, ours = _frames(error)
    if theirs is None:
        return None
    for frame in (theirs.tb_frame, *reversed(ours)):
        kind = type(frame.f_locals.get("self"))
        role = next((_HELPERS[base.__name__] for base in kind.__mro__ if base.__name__ in _HELPERS), None)
        if role is not None:
            return f"{role} {kind.__name__}, in {theirs.tb_frame.f_code.co_name}(){_place(error)},"
    return None


def _frames(error: BaseException) -> tuple[TracebackType | None, list[FrameType]]:
    """The first frame of an exception that is not ours, and ours before it."""
    step, ours = error.__traceback__, list[FrameType]()
    while step is not None and step.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        ours.append(step.tb_frame)
        step = step.tb_next
    return step, ours


def _place(error: BaseException) -> str:
    theirs, _ = _frames(error)
    return "" if theirs is None else f" (line {theirs.tb_lineno} of {Path(theirs.tb_frame.f_code.co_filename).name})"


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


def text_of(error: BaseException) -> str:
    """The text of an exception, shortened; whatever its own ``__str__`` does, this does not fail."""
    try:
        return _shortened(str(error))
    except Exception:  # a user's own __str__
        return "(its text cannot be shown: str() of it fails)"


_SHIP = (
    ". Python does not find it where the task runs: ship it with add_python_file() or set_python_requirements() of the "
    "environment, or install it there"
)


def job_error(failure: OperatorFailure, task: str, subtask: int, attempt: int) -> JobExecutionError:
    """The error that the user sees; its ``__cause__`` is the user's exception."""
    config, error = failure.config, failure.error
    uid = f" (uid {config.uid!r})" if config.uid else ""
    advice = _SHIP if isinstance(error, ModuleNotFoundError) else ""
    message = (
        f"{failure.subject}{uid} with the ID {config.operator_id} failed in task {task!r}, subtask {subtask}, "
        f"attempt {attempt}: {type(error).__name__}: {text_of(error)}{advice}\n{user_traceback(error)}"
    )
    result = JobExecutionError(
        message,
        operator=config.name,
        uid=config.uid,
        operator_id=config.operator_id,
        task=task,
        subtask=subtask,
        attempt=attempt,
        function=failure.function,
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
