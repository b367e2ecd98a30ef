"""Promises of the pages on running, stopping, restoring and savepoints: each sentence names the tests that hold it.

``test_exactly_once_page.py`` does the same for sources and sinks.
"""

from __future__ import annotations

import pytest

from tests.docs.documents import ROOT
from tests.docs.test_exactly_once_page import functions

INTERVALS = "job/steps/test_intervals.py::"
LEASE = "job/folder/test_lease.py::"
LOOP = "job/steps/test_loop.py::"
ONE_STEP = "job/steps/test_one_step.py::"
RESTARTS = "job/restore/test_restarts.py::"
RESTORED = "job/restore/test_savepoints.py::"
REFERENCE = "job/savepoint/test_reference.py::"
RUNNING = "job/savepoint/test_running.py::"
STOPPING = "cli/test_stopping.py::"

STREAMING = {
    "With a checkpoint directory, a new start finishes what a killed driver had committed": [
        f"{ONE_STEP}test_a_sink_of_two_phases_is_asked_again_after_a_kill_between_them"
    ],
    "and a job that has ended says so by ending at once": [
        f"{ONE_STEP}test_a_checkpoint_directory_in_batch_mode_says_that_the_job_has_ended"
    ],
    "`RuntimeExecutionMode.AUTOMATIC` is STREAMING if any source never ends, and BATCH is refused then": [
        "job/steps/test_ends.py::test_a_source_without_an_end_is_refused_in_batch_mode_and_makes_automatic_streaming"
    ],
    "fires timers by the clock at once that became due meanwhile": [
        "job/steps/test_overdue.py::test_they_fire_though_no_record_comes",
        "job/steps/test_overdue.py::test_they_fire_in_a_job_that_begins_with_a_savepoint",
        "job/steps/test_overdue.py::test_they_fire_on_spark",
    ],
    "Steps go on as fast as without an interval": [
        f"{INTERVALS}test_a_record_is_seen_at_once",
        f"{INTERVALS}test_watermarks_advance_between_checkpoints",
        f"{INTERVALS}test_windows_by_the_clock_are_the_same",
    ],
    "None is taken if there was no step since the last one": [
        "job/steps/test_overdue.py::test_a_run_without_anything_to_do_makes_no_version"
    ],
    "commits the running step and ends": [f"{LOOP}test_stopping_commits_the_step_and_ends"],
    "No window fires because of it": ["job/steps/test_ends.py::test_a_job_that_is_stopped_fires_no_window"],
    "discards the steps since the last checkpoint; what was committed before stays": [
        f"{LOOP}test_cancelling_leaves_what_was_committed"
    ],
    "refused with the name, machine and process of the first": [
        f"{LEASE}test_the_second_driver_is_refused_and_told_who_holds_the_folder",
        "chaos/test_drivers.py::test_the_second_driver_is_refused_and_told_who_has_the_folder",
    ],
    "after a minute of silence on others": [
        f"{LEASE}test_one_that_another_host_has_left_without_a_word_is_held_for_a_while"
    ],
    "If an operator with state is gone, or has another max parallelism, the start is refused and names it": [
        f"{LOOP}test_state_that_no_operator_takes_over_is_refused",
        f"{RESTARTS}test_max_parallelism_is_taken_over_or_refused",
    ],
    "A program that has ended says so by ending at once": [
        f"{RESTARTS}test_a_job_that_has_ended_ends_again_with_what_is_new_behind_it",
        f"{ONE_STEP}test_a_checkpoint_directory_in_batch_mode_says_that_the_job_has_ended",
    ],
    "the step is run again, up to four times in a row; then the job fails": [
        "job/steps/test_restarts.py::test_four_losses_in_a_row_are_made_good_and_the_fifth_ends_the_job",
        "spark/test_daemon.py::test_a_daemon_that_dies_while_it_starts_a_worker_costs_a_step",
    ],
    "after five failures in a row from one checkpoint it fails with your exception": [
        f"{LOOP}test_a_job_that_fails_again_and_again_in_one_place_stops_with_the_error",
        f"{LOOP}test_a_job_with_checkpoints_is_run_again_as_long_as_it_gets_on",
    ],
    "without checkpoints enabled the job fails at once": [f"{LOOP}test_a_job_that_has_failed_goes_on_where_it_was"],
    "the job ends with an error that names the file": [
        "chaos/test_full_disk.py::test_the_error_names_it_and_the_next_run_goes_on",
        "chaos/test_full_disk.py::test_a_restart_strategy_waits_until_there_is_room",
    ],
    "or, if there is nothing to do, within ten seconds": [
        "job/steps/test_replaced.py::test_a_driver_that_is_idle_ends_when_another_one_has_its_folder"
    ],
    "When all sources end, timers by the clock that are not due never fire": [
        "job/steps/test_ends.py::test_timers_by_the_clock_that_are_not_due_never_fire_and_open_windows_do"
    ],
    "With checkpoints enabled the planner refuses iterations": [
        "job/steps/test_ends.py::test_loops_are_refused_where_checkpoints_are_enabled"
    ],
}

OPERATIONS = {
    "`--progress plain` writes a line every ten seconds instead": [
        "cli/test_live.py::test_a_line_now_and_then_and_in_the_end"
    ],
    "says what it *waits for* in a line below its name": [
        "job/steps/test_moving.py::test_what_a_job_waits_for_is_said"
    ],
    "What a step has counted that failed is gone with it": [
        "job/steps/test_progress.py::test_a_step_that_is_discarded_has_counted_nothing"
    ],
    "The last sixteen executions of a subtask are remembered": [
        "job/steps/test_progress.py::test_the_last_sixteen_executions_of_a_subtask_are_remembered"
    ],
    "Of a range of ports the first free one is taken": [
        "job/steps/test_prometheus.py::test_jobs_of_one_process_share_a_port_and_a_range_gives_the_first_free_one"
    ],
    "every number is a gauge": ["job/steps/test_prometheus.py::test_all_that_is_known_has_a_name"],
}

DEPLOY = {
    "the process ends with the exit status **0**": [
        f"{STOPPING}test_a_terminated_program_stops_in_order_and_goes_on",
        f"{STOPPING}test_on_spark_too",
    ],
    "A second signal does what it does without Penstock": [
        f"{STOPPING}test_a_second_signal_ends_a_step_that_takes_long"
    ],
    "A job that waits to be [tried again](streaming.md#failures) stops without waiting": [
        f"{STOPPING}test_one_that_waits_to_begin_again_stops_at_once"
    ],
    "has a SIGTERM handler of its own keeps it": [
        f"{STOPPING}test_a_program_that_handles_the_signal_itself_goes_on_doing_so"
    ],
}

RESTORING = {
    "otherwise it is refused. The savepoint, and the checkpoint directory that it came from, are only read": [
        f"{RESTORED}test_the_same_savepoint_again_goes_on_and_another_is_refused",
        f"{RESTORED}test_a_program_that_fails_in_its_first_step_leaves_all_as_it_was",
        "chaos/test_restores.py::test_who_dies_while_a_job_begins_from_another_leaves_that_as_it_is",
    ],
    "*Inherited by position* is the one to look at": [f"{RESTARTS}test_who_inherits_by_its_place_alone_is_said"],
    "*Carried along unread*": [f"{RESTARTS}test_state_that_is_not_read_is_carried_along"],
    "state of an operator that the program does not have": [
        f"{RESTARTS}test_state_that_nobody_takes_is_refused_or_left_behind"
    ],
    "another max parallelism than the state has, if the program sets one": [
        f"{RESTARTS}test_max_parallelism_is_taken_over_or_refused"
    ],
    "more subtasks than the state has key groups": [f"{RESTARTS}test_max_parallelism_is_taken_over_or_refused"],
    "a chain whose operators have state of different max parallelism": [
        f"{RESTARTS}test_chains_that_would_mix_key_groups_are_refused"
    ],
    "records that a two-phase sink has prepared and not committed": [
        "job/restore/test_sinks.py::test_what_a_sink_has_prepared_that_is_gone_is_asked_for",
        "job/restore/test_sinks.py::test_what_a_sink_has_prepared_that_is_gone_may_be_left_behind",
    ],
    "a text file as output that is to become a folder": [
        "job/restore/test_sinks.py::test_a_text_file_does_not_become_a_folder"
    ],
    "these may be removed, or change their max parallelism": [
        "job/restore/test_emptied.py::test_what_is_emptied_is_not_missed"
    ],
    "takes the state under that ID, or else the one under its own": [
        f"{RESTARTS}test_a_uid_hash_takes_what_another_operator_had_and_keeps_it_under_its_own"
    ],
    "a warning at the start names the operators that need a uid": [
        "job/steps/test_scaling.py::test_state_that_other_cores_would_lose_is_told_of"
    ],
    "BATCH mode is refused": ["job/steps/test_scaling.py::test_without_steps_too_and_not_in_batch_mode"],
    "An error for a checkpoint that is gone names those that are there": [
        f"{RESTORED}test_versions_of_a_job_folder_are_savepoints"
    ],
    "If a new program is refused or fails in its first step, the old job's directory is untouched": [
        f"{RESTORED}test_a_program_that_fails_in_its_first_step_leaves_all_as_it_was"
    ],
}

SAVEPOINTS = {
    "A savepoint that is requested while a step runs waits for its end": [
        f"{RUNNING}test_a_job_runs_on_while_a_savepoint_is_taken",
        f"{RUNNING}test_one_that_is_asked_for_before_the_first_step_waits_for_it",
    ],
    "state files get a second name and nothing is copied": [
        "job/savepoint/test_taking.py::test_it_costs_no_copy_on_one_file_system"
    ],
    "`savepoint.json` is written last, and never replaced": [
        "job/savepoint/test_crashes.py::test_whoever_dies_while_one_is_taken"
    ],
    "and give up after `--timeout` seconds": ["job/savepoint/test_asking.py::test_nobody_answers"],
    "and writes nothing to the checkpoint directory": [
        "job/savepoint/test_asking.py::test_one_is_taken_without_a_driver"
    ],
    "A checkpoint whose outputs are not yet published, because the driver died right after its manifest, is refused": [
        "job/savepoint/test_asking.py::test_outputs_that_wait_are_not_lost_without_a_word"
    ],
    "the checkpoint directory, which keeps that checkpoint until the savepoint is removed": [
        f"{REFERENCE}test_what_it_needs_stays_until_the_last_one_is_removed"
    ],
    "not one byte of state is read, sent or copied": [f"{REFERENCE}test_on_a_store_no_state_is_sent_or_copied"],
    "Elsewhere it is refused": [f"{REFERENCE}test_another_storage_is_refused"],
    "every command and every restore says so": [f"{REFERENCE}test_both_are_moved_together_or_copied_alone"],
    "the job goes on and the future has the error": [f"{RUNNING}test_there_must_be_a_place"],
    "if `state.savepoints.dir` is set before it starts, its savepoints have the state of its end": [
        f"{ONE_STEP}test_savepoints_of_a_job_of_one_step_have_the_state_of_its_end"
    ],
    "else the future has an error at once": [f"{RUNNING}test_a_job_of_one_step_has_none"],
    "whether every byte is as it was written; exit status 1 if not": [
        "job/savepoint/test_contents.py::test_every_byte_of_every_file_counts",
        "cli/test_savepoint.py::test_verify_goes_on_behind_a_bad_one",
    ],
    "a state with other objects is refused, and nothing of it is run": [
        "savepoints/test_reading.py::test_a_plain_reading_runs_nothing",
        "cli/test_savepoint_data.py::test_objects_are_asked_for",
    ],
    "one that is in both is refused": ["cli/test_savepoint_data.py::test_what_cannot_be_is_said_in_words"],
    "Or drop the state first; the error has the command, which needs neither the class": [
        "cli/test_savepoint_classes.py::test_a_program_without_the_state_and_the_class"
    ],
    "`show`, `verify` and `diff` unpickle nothing": [
        "job/savepoint/test_contents.py::test_nothing_is_unpickled_to_show"
    ],
    "a later Penstock reads all earlier ones": ["job/savepoint/test_golden.py::test_what_begins_with_it_goes_on"],
}

PAGES = {
    "streaming.md": STREAMING,
    "operations.md": OPERATIONS,
    "deploy.md": DEPLOY,
    "restoring.md": RESTORING,
    "savepoints.md": SAVEPOINTS,
}


@pytest.mark.parametrize("page", PAGES)
def test_the_sentences_are_there(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert [sentence for sentence in PAGES[page] if sentence not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_tests_are_there(page: str) -> None:
    tests = {test for held in PAGES[page].values() for test in held}
    existing = {path: functions(ROOT / "tests" / path) for path in {test.partition("::")[0] for test in tests}}
    assert sorted(test for test in tests if test.partition("::")[2] not in existing[test.partition("::")[0]]) == []
