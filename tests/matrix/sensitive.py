"""Programs whose results depend on a knob of the matrix, with the reason: nothing else may."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from tests.matrix.knobs import BUFFER, CHAINING, CLOCK, PARALLELISM


@dataclass(frozen=True)
class Sensitivity:
    """Why a program's results depend on knobs."""

    knobs: frozenset[str]
    reason: str
    programs: tuple[str, ...]


def _programs(
    names: str, seeds: Iterable[int] = (), random: Iterable[int] = (), shapes: Iterable[str] = ()
) -> tuple[str, ...]:
    """Names of scripts, of scripts r1, r2 …, of random programs, and of shapes."""
    all_names = (
        (f"r{seed}" for seed in seeds),
        (f"random {seed}" for seed in random),
        (f"shape {name}" for name in shapes),
    )
    return (*names.split(), *itertools.chain(*all_names))


SUBTASK_SHOWN = Sensitivity(
    frozenset({PARALLELISM}),
    "a function shows its subtask",
    _programs(
        "keyed_subtask_of_int_and_long_keys partition_rescale_1_3 partition_rescale_2_4_and_4_2 partition_rescale_2_3 "
        "partition_rescale_3_2 partition_custom",
        [1, 15, 25, 47, 54, 57, 99, 103, 108, 146, 167, 171],
    ),
)

TASK_SHOWN = Sensitivity(
    frozenset({PARALLELISM, CHAINING}),
    "a function shows the name of its task",
    _programs("trace_facts trace_facts_names_and_limits ops_disable_chaining_and_new_chain restart_facts"),
)

COPIES = Sensitivity(
    frozenset({PARALLELISM}),
    "every subtask gets each record of a broadcast, or its end of input",
    _programs(
        "partition_broadcast broadcast_rules_first broadcast_rules_parallel broadcast_rules_interleaved "
        "broadcast_keyed trace_operator_end_input trace_operator_in_own_task trace_operator_branching",
        random=[0, 4, 5, 11, 12, 14, 16, 17, 19, 20, 23, 24, 26, 28, 39],
        shapes=["everything"],
    ),
)

NO_KEY = Sensitivity(
    frozenset({PARALLELISM}),
    "a function without key remembers what its subtask has seen",
    _programs(
        "objects_network_always_copies_copy objects_network_always_copies_reuse objects_window_elements_copy "
        "objects_window_elements_reuse objects_mutated_after_emit_copy objects_emitter_reuses_one_copy "
        "objects_mutated_after_emit_reuse objects_emitter_reuses_one_reuse objects_source_reused_chain_reuse"
    ),
)

SHARED = Sensitivity(
    frozenset({CHAINING}),
    "functions change a record that others in the chain hold",
    _programs(
        "objects_mutated_after_emit_copy objects_emitter_reuses_one_copy objects_mutated_after_emit_reuse "
        "objects_emitter_reuses_one_reuse objects_source_reused_chain_reuse objects_two_branches_mutate_reuse "
        "objects_side_output_reuse"
    ),
)

SEVERAL_CHANNELS = Sensitivity(
    frozenset({PARALLELISM, BUFFER}),
    "the order of arrival over several channels counts",
    _programs(
        "window_after_window async_ordered_windows partition_rescale_2_4_and_4_2 broadcast_keyed", shapes=["everything"]
    ),
)

WATERMARK_BACK = Sensitivity(
    frozenset({PARALLELISM, CHAINING}),
    "a source's watermarks go back, which they do inside a chain only",
    _programs("watermarks_going_back_pass_inside_a_chain"),
)

FIRST_ERROR = Sensitivity(
    frozenset({PARALLELISM, CHAINING}),
    "records in several subtasks fail",
    _programs("async_timeout_fails async_exception_fails"),
)

RESTARTED = Sensitivity(
    frozenset({PARALLELISM, CHAINING}),
    "a sink keeps what failed attempts have written",
    _programs("restart_twice_then_ok"),
)

REFUSED = Sensitivity(
    frozenset({PARALLELISM}),
    "forward edges, iterations or streams declared to be keyed need one parallelism",
    _programs("partition_forward iterate_countdown iterate_fan_out iterate_p2 state_reinterpreted_key"),
)

AS_CALLS_END = Sensitivity(
    frozenset({CLOCK}),
    "records come in the order in which asynchronous calls end",
    _programs("async_unordered async_timeout_fails async_exception_fails"),
)

SENSITIVITIES = (
    *(SUBTASK_SHOWN, TASK_SHOWN, COPIES, NO_KEY, SHARED, SEVERAL_CHANNELS, WATERMARK_BACK, FIRST_ERROR, RESTARTED),
    *(REFUSED, AS_CALLS_END),
)

KNOBS_OF: dict[str, frozenset[str]] = {}
"""The knobs a program is sensitive to, by its name."""
for _sensitivity in SENSITIVITIES:
    for _name in _sensitivity.programs:
        KNOBS_OF[_name] = KNOBS_OF.get(_name, frozenset()) | _sensitivity.knobs

REFUSED_ON_SPARK = frozenset(
    _programs(
        "watermarks_minimum_of_two watermarks_idle_source_is_ignored timers_after_union_of_gated_sources "
        "interval_join_late_settled co_process_gated broadcast_rules_first broadcast_rules_parallel "
        "broadcast_rules_interleaved broadcast_keyed"
    )
)
"""Programs that only the local executor runs: their sources wait for what a sink has got."""
TRIED_BY_SPARK = frozenset(_programs("restart_facts restart_twice_then_ok restart_exhausted"))
"""Programs that show how often a function was tried: Spark tries a task some times before the job is run again."""
