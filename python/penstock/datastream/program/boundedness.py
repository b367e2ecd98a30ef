"""Whether a program ends by itself, and so in which mode it runs.

Source of the semantics: ``StreamGraphGenerator`` (Flink 1.20).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.common import RuntimeExecutionMode, checks
from penstock.datastream.program.program import Program
from penstock.datastream.program.transformations import (
    FeedbackTransformation,
    SourceTransformation,
    Transformation,
    inputs_of,
)


def mode_of(program: Program, roots: Iterable[Transformation]) -> RuntimeExecutionMode:
    """STREAMING or BATCH: what is set, or, under AUTOMATIC, BATCH if every source ends. O(transformations).

    Args:
        program: is only read.
        roots: operators and sinks of the job.

    Raises:
        InvalidProgramError: BATCH is set, and a source never ends (Flink: IllegalStateException).
    """
    wanted = program.settings.runtime_mode
    if wanted is RuntimeExecutionMode.STREAMING:
        return wanted
    endless = next(_endless(roots), None)
    if endless is None:
        return RuntimeExecutionMode.BATCH
    if wanted is RuntimeExecutionMode.BATCH:
        checks.refuse(
            f"The source {endless.name!r} never ends, and BATCH mode emits what is known at the end. Set "
            "RuntimeExecutionMode.STREAMING or AUTOMATIC, or give a source that ends.",
            checks.ILLEGAL_STATE,
        )
    return RuntimeExecutionMode.STREAMING


def _endless(roots: Iterable[Transformation]) -> Iterator[SourceTransformation]:
    """The sources that never end, of those that lead to something."""
    pending, seen = list(roots), set[int]()
    while pending:
        current = pending.pop()
        if current.id in seen:
            continue
        seen.add(current.id)
        if isinstance(current, SourceTransformation) and getattr(current.operator, "unbounded", False):
            yield current
        pending.extend(inputs_of(current))
        pending.extend(current.feedback if isinstance(current, FeedbackTransformation) else ())
