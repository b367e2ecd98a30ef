"""What Penstock does otherwise than Flink on purpose, where the run scripts show it."""

from __future__ import annotations

CHANGED_AFTER_EMITTING = (
    "In a chain with one reader a record is handed on as the object itself, because a copy at every hop would cost "
    "more than most functions do. A function that changes an object after emitting it shows that to whoever kept the "
    "object further down the chain; Flink's copies hide it."
)

WINDOW_STARTS = (
    "Flink takes Java's remainder, so that a time further below the offset than a window's size gets a window that "
    "starts after it, and is reported in an interval that does not hold it, together with what belongs there. Here "
    "every window holds its elements. With Flink's formula these programs give what Flink gave (a test says so)."
)

SHARED_MAXIMUM = (
    "Flink's min and max write the extreme into the object of the first element, which overlapping windows share: a "
    "window reports a maximum that lies outside it. Here no aggregation changes a record in place."
)

FORGOTTEN_SESSION = (
    "A session that equals a merged live one takes its place in Flink's map, and what the live one held is lost. Here "
    "the element joins the live session."
)

ENDLESS_TRIGGER = (
    "EventTimeTrigger on global windows fails in Flink when the first element comes, with a ClassCastException; here "
    "execute() refuses it before anything starts."
)

_STARTS = (
    *("window_tumbling_p3", "window_tumbling_negative_timestamps", "window_sliding_negative_timestamps"),
    *("window_sliding_p2", "winfn_clear_trace", "window_after_window", "window_after_window_p2"),
    *("window_two_levels_p4", "r2", "r9", "r18", "r26", "r67", "r89", "r115", "r123", "r129", "r142", "r149"),
    *("r164", "r177", "r179"),
)

PROGRAMS: dict[str, str] = {
    "objects_mutated_after_emit_copy": CHANGED_AFTER_EMITTING,
    "objects_emitter_reuses_one_copy": CHANGED_AFTER_EMITTING,
    "sliding_max_shares_the_first_element": SHARED_MAXIMUM,
    "window_session_dynamic_equal_window_forgets": FORGOTTEN_SESSION,
    "refused_event_time_trigger_on_global": ENDLESS_TRIGGER,
    **dict.fromkeys(_STARTS, WINDOW_STARTS),
}
"""Programs whose results differ, and why."""

_BEGINS_ANEW = (
    "After a failure Flink's source begins anew, as the golden file's programs make no checkpoints; a job that runs in "
    "steps goes on from the last one, so the records before are not repeated with the number of another attempt."
)

OF_ATTEMPTS = dict.fromkeys(("restart_facts", "restart_twice_then_ok", "restart_exhausted"), _BEGINS_ANEW)
"""Programs that may give something else when they run in steps, and why. All others give the same, however they are
fed, killed, and begun from savepoints, at whatever parallelism."""

_IN_A_FIELD = (
    "A function keeps the record before in a field of its own, and not in state; who begins from a savepoint has the "
    "field anew, as in Flink, where the golden file's program ran through."
)

RESTORED = OF_ATTEMPTS | dict.fromkeys(
    (
        "objects_mutated_after_emit_reuse",
        "objects_emitter_reuses_one_reuse",
        "objects_network_always_copies_copy",
        "objects_network_always_copies_reuse",
    ),
    _IN_A_FIELD,
)
"""Programs that may give something else when another job goes on with them."""

_FLINKS_OWN = {
    "org.apache.flink.runtime.client.JobExecutionException",
    "org.apache.flink.runtime.JobException",
    "java.util.concurrent.ExecutionException",
}


def users_errors(chain: list[list[str]]) -> list[list[str]]:
    """What the user threw of Flink's chain of exceptions."""
    return [error for error in chain if error[0] not in _FLINKS_OWN]
