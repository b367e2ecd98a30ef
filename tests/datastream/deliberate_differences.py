"""What Penstock does otherwise than Flink on purpose, where the run scripts show it.

A difference belongs here only with the reason why it is meant; what is merely not done yet is "unsupported".
"""

from __future__ import annotations

CHANGED_AFTER_EMITTING = (
    "In a chain with one reader a record is handed on as the object itself, because a copy at every hop would cost "
    "more than most functions do. A function that changes an object after emitting it shows that to whoever kept the "
    "object further down the chain; Flink's copies hide it."
)

PROGRAMS: dict[str, str] = {
    "objects_mutated_after_emit_copy": CHANGED_AFTER_EMITTING,
    "objects_emitter_reuses_one_copy": CHANGED_AFTER_EMITTING,
}
"""Programs whose results differ, and why."""

_FLINKS_OWN = {
    "org.apache.flink.runtime.client.JobExecutionException",
    "org.apache.flink.runtime.JobException",
    "java.util.concurrent.ExecutionException",
}


def users_errors(chain: list[list[str]]) -> list[list[str]]:
    """What the user threw of Flink's chain of exceptions: Penstock wraps exactly once, whatever failed, in an error
    that names operator, task and attempt, where Flink's wrappers tell the restart strategy and the thread."""
    return [error for error in chain if error[0] not in _FLINKS_OWN]
