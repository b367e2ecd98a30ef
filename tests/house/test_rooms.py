"""The rooms of the house: each imports only those below it, no two modules each other, and tasks run the runtime."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.imports import ROOT, between_rooms, imports, reached

PYFLINKS_PATHS = [
    "async_data_stream",
    "async_retry_strategies",
    "checkpoint_config",
    "checkpointing_mode",
    "data_stream",
    "execution_mode",
    "output_tag",
    "stream_execution_environment",
    "time_characteristic",
    "time_domain",
    "timerservice",
]
"""Modules that hand on a name where PyFlink has it."""
ROOMS = {
    "runtime": [
        "aggregators",
        "native",
        "config",
        "usercode",
        "buffers",
        "keys",
        "exchange",
        "state",
        "windows",
        "chain",
        "io",
        "checkpoint",
        "kafka",
        "schemas",
        "operators",
        "task",
    ],
    "datastream": [
        "functions",
        "sinks",
        "input_formats",
        "formats",
        "schemas",
        "state",
        "window",
        "evictor",
        "connectors",
        "checkpoint_storage",
        "externalized_checkpoint_retention",
        "slot_sharing_group",
        "state_backend",
        "program",
        "streams",
        "environment",
        *PYFLINKS_PATHS,
    ],
    "job": [
        "commit",
        "folder",
        "savepoint",
        "restore",
        "captures",
        "pickling",
        "shipping",
        "batch_edges",
        "outputs",
        "locations",
        "vertices",
        "deployment",
        "rows",
        "results",
        "temporary",
        "steps",
        "running",
    ],
    "analysis": ["model", "dry_open", "declared", "reading", "identity", "edits", "why", "formats", "explain"],
    "compare": ["hashing", "matching", "causes", "states", "difference", "texts", "saved", "flink_saved"],
    "lock": ["format", "pins", "editing", "fixing"],
    "lint": [
        "finding",
        "inspection",
        "event_time",
        "subject",
        "rule",
        "rules",
        "configuration",
        "comments",
        "checking",
        "pages",
        "formats",
    ],
    "viewer": ["columns", "data", "changes", "feed", "server", "following", "page"],
    "savepoints": ["pickles", "loading", "files", "table", "bootstrap", "on_spark", "pending", "reader", "writer"],
    "job.restore": ["matching", "refusals", "adapting", "taking_over", "scaling", "telling", "carried", "foretelling"],
    "flink": [
        "cursor",
        "java_stream",
        "properties",
        "handles",
        "handle_reader",
        "metadata",
        "snapshots",
        "headers",
        "places",
        "savepoint",
        "plans",
        "refusals",
        "ending",
        "restore",
        "findings",
        "facts",
        "contents",
        "differing",
        "batch",
        "uids",
    ],
    "job.savepoint": [
        "checking",
        "carrying",
        "published",
        "reference",
        "format",
        "taking",
        "copying",
        "asking",
        "contents",
        "verifying",
        "differing",
    ],
    "job.folder": ["ended", "manifest", "owners", "requests", "pins", "files", "writer", "cleaner", "lease"],
    "job.commit": ["pending", "manifest", "publish", "recovery", "stores", "store_recovery", "prepared"],
    "job.steps": [
        "events",
        "rates",
        "attempts",
        "counts",
        "progress",
        "prometheus",
        "watching",
        "stopwatch",
        "pace",
        "reading",
        "versions",
        "places",
        "publishing",
        "outputs",
        "leftovers",
        "committing",
        "interrupting",
        "restarts",
        "savepoints",
        "opening",
        "runner",
        "loop",
        "scaling",
    ],
    "spark": [
        "quiet",
        "class_archive",
        "inside_pyspark",
        "cancelling",
        "naming",
        "progress",
        "counting",
        "failures",
        "probe",
        "package",
        "edges",
        "frames",
        "step_level",
        "lowering",
        "running",
        "daemon",
        "session",
        "shipping",
        "offering",
        "stream_checkpoint",
        "streams",
        "steps",
        "executor",
    ],
}
"""The folders and files of each part, from the ground up."""

FLUENT = "penstock.datastream.streams"
"""The one room whose modules lead to each other in a circle, as the calls of a user do."""


@pytest.mark.parametrize("part", ROOMS)
def test_each_room_imports_only_those_below_it(part: str) -> None:
    order = ROOMS[part]
    pairs = between_rooms(f"penstock.{part}")
    assert len(pairs) > len(order) // 2, "no imports were found"
    upward = {f"{room} imports {other}" for room, other in pairs if order.index(other) > order.index(room)}
    assert not upward


@pytest.mark.parametrize("part", ROOMS)
def test_every_room_has_its_place(part: str) -> None:
    here = {
        path.stem
        for path in ROOT.joinpath(*part.split(".")).iterdir()
        if path.suffix in ("", ".py") and path.stem[0] != "_"
    }
    assert here == set(ROOMS[part])


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """Modules that import each other in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_no_circle_but_the_fluent_apis_own_room() -> None:
    assert sum(map(len, imports().values())) > len(imports()) > 100
    room = {module for module in imports() if f"{module}.".startswith(f"{FLUENT}.")}
    own = {module: imports()[module] & room for module in room}
    rest = {module: imported - own.get(module, set()) for module, imported in imports().items()}
    assert circle(rest) is None
    assert circle(own) is not None, "the fluent API is no circle any more: it needs no exception"


def test_nothing_in_the_runtime_is_the_drivers_only() -> None:
    """What a task loads leads to every module of it. What it runs a program brings along: operators, sources of
    connectors and of cached streams, schemas, formats of files, and assigners of windows."""
    runtime = {module for module in imports() if module.startswith("penstock.runtime")}
    operators = {module for module in runtime if module.startswith("penstock.runtime.operators.")}
    formats = {module for module in runtime if module.startswith("penstock.runtime.io.formats.")}
    found = reached(
        [
            "penstock.runtime.task.task",
            "penstock.runtime.task.batch_task",
            "penstock.runtime.task.step_task",
            "penstock.runtime.task.living",
            "penstock.runtime.io.cached",
            "penstock.runtime.io.file_monitor",
            "penstock.runtime.io.bulk_sink",
            "penstock.runtime.io.jdbc",
            "penstock.runtime.io.two_phase",
            "penstock.runtime.io.file_sink",
            "penstock.runtime.io.file_source",
            "penstock.runtime.io.socket_source",
            "penstock.runtime.kafka.following",
            "penstock.runtime.kafka.reading",
            "penstock.runtime.kafka.sink",
            "penstock.runtime.schemas.avro_rows",
            "penstock.runtime.schemas.csv_rows",
            "penstock.runtime.schemas.json_rows",
            "penstock.runtime.windows.count_windows",
            *operators,
            *formats,
        ],
        imports(),
    )
    assert len(runtime) > 40
    assert runtime <= found
    assert not {name for name in found if name.startswith(("penstock.job", "penstock.plan", "penstock.datastream"))}
