"""The rooms of the house: each imports only those below it, no two modules each other, and tasks run the runtime."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.imports import ROOT, between_rooms, imports, reached

ROOMS = {
    "runtime": [
        "aggregators",
        "native",
        "constants",
        "config",
        "usercode",
        "buffers",
        "columns",
        "keys",
        "exchange",
        "state",
        "windows",
        "chain",
        "io",
        "checkpoint",
        "operators",
        "task",
    ],
    "storage": ["storage", "hdfs", "stores"],
    "connectors": [
        "cached_source",
        "two_phase",
        "java_texts",
        "socket_source",
        "formats",
        "schemas",
        "files",
        "jdbc",
        "kafka",
        "spark",
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
        "slot_sharing_group",
        "state_backend",
        "program",
        "streams",
        "environment",
    ],
    "job": [
        "folder",
        "temporary",
        "commit",
        "savepoint",
        "restore",
        "pickled_code",
        "shipped_files",
        "locations",
        "vertices",
        "deployment",
        "rows",
        "steps",
        "run",
    ],
    "analysis": [
        "program",
        "model",
        "dry_open",
        "states",
        "facts",
        "builder",
        "why",
        "texts",
        "pictures",
        "drawing",
        "explain",
        "native_code",
    ],
    "compare": ["graph", "states", "pairs", "causes", "difference", "advice", "texts", "savepoints"],
    "lock": ["format", "pins", "source", "fixer"],
    "compiler": [
        "program",
        "signatures",
        "texts",
        "trees",
        "names",
        "imports",
        "descriptors",
        "opened",
        "lists",
        "held_lists",
        "process_states",
        "trigger_states",
        "aliases",
        "accumulators",
        "kept",
        "kinds",
        "invocations",
        "windows",
        "walruses",
        "iterators",
        "constructors",
        "expressions",
        "patterns",
        "process",
        "dates",
        "calls",
        "list_changes",
        "statements",
        "bodies",
        "functions",
        "joins",
        "operators",
    ],
    "lint": [
        "finding",
        "inspection",
        "sources",
        "bodies",
        "shapes",
        "event_time",
        "subject",
        "rule",
        "rules",
        "configuration",
        "comments",
        "linter",
    ],
    "viewer": ["data", "changes", "feed", "server", "follower", "page"],
    "savepoints": [
        "plain_values",
        "plain_pickles",
        "pickles",
        "operator_state",
        "table",
        "bootstrap",
        "on_spark",
        "reader",
        "flink_states",
        "pyflink_pickles",
        "pyflink_states",
        "flink_savepoint",
        "entrance",
        "writer",
    ],
    "job.restore": [
        "matches",
        "sizes",
        "refusals",
        "adapted_manifest",
        "taking_over",
        "parallelism",
        "notices",
        "from_flink",
        "carried",
        "verdicts",
    ],
    "job.restore.from_flink": ["losses", "forms", "keyed", "lists", "positions", "pickles", "python_state", "importer"],
    "flink": [
        "texts",
        "cursor",
        "java_stream",
        "handles",
        "metadata",
        "snapshots",
        "headers",
        "places",
        "savepoint",
        "plans",
        "restore",
        "findings",
        "facts",
        "contents",
        "batch",
        "uids",
        "entries",
        "columns",
        "pyflink",
    ],
    "flink.columns": ["column", "avro", "types"],
    "flink.pyflink": ["coders", "java_forms", "states", "entries"],
    "flink.entries": [
        "entry",
        "values",
        "scalars",
        "avro",
        "kafka_partitions",
        "readers",
        "pieces",
        "states",
        "canonical",
        "heap",
        "refusals",
        "selection",
        "state_files",
        "keyed",
        "operator_state",
        "raw",
        "walk",
        "documents",
    ],
    "job.savepoint": [
        "checks",
        "transfer",
        "format",
        "store",
        "commands",
        "contents",
        "difference",
    ],
    "job.folder": [
        "read_splits",
        "manifest",
        "owners",
        "requests",
        "files",
        "writer",
        "cleaner",
        "lease",
        "single",
    ],
    "job.commit": ["folders", "checks", "publication", "leftovers"],
    "job.steps": [
        "counts",
        "progress",
        "prometheus",
        "stopwatch",
        "source_plans",
        "versions",
        "outputs",
        "commits",
        "interruptions",
        "schedule",
        "savepoints",
        "loop",
        "rescale",
    ],
    "spark": [
        "inside_pyspark",
        "failures",
        "edges",
        "installation",
        "session",
        "frames",
        "attempts",
        "step_level",
        "placement",
        "lowering",
        "spark_job",
        "affinity",
        "daemon",
        "shipped_code",
        "job_sessions",
        "stream_checkpoint",
        "stream_queries",
        "connect_queries",
        "streams",
        "steps",
        "executor",
    ],
    "common": [
        "callables",
        "extras",
        "findings",
        "java",
        "site",
        "row",
        "typesystem",
        "typeinfo",
        "checks",
        "column_types",
        "async_retry",
        "class_names",
        "jobs",
        "restart_strategy",
        "serialization",
        "time",
        "bulk_writer",
        "data_types",
        "settings",
        "functions",
        "watermark_strategy",
        "configuration",
        "execution_config",
        "contexts",
        "savepoint_restore_settings",
    ],
}
"""The folders and files of each part, from the ground up."""

FLUENT = "penstock.datastream.streams"
"""The one room whose modules lead to each other in a circle, as the calls of a user do."""


@pytest.mark.parametrize("part", ROOMS)
def test_each_room_imports_only_those_below_it(part: str) -> None:
    order = ROOMS[part]
    pairs = between_rooms(f"penstock.{part}")
    assert pairs, "no imports were found"
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
    within = {module: imports()[module] & room for module in room}
    rest = {module: imported - within.get(module, set()) for module, imported in imports().items()}
    assert circle(rest) is None
    assert circle(within) is not None, "the fluent API is no circle any more: it needs no exception"


def test_nothing_in_the_runtime_is_the_drivers_only() -> None:
    """A task leads to every module of the runtime, by itself or by an operator or a window that it runs."""
    runtime = {module for module in imports() if module.startswith("penstock.runtime")}
    loaded = tuple(f"penstock.runtime.{room}." for room in ("task", "operators", "windows"))
    modules = reached({module for module in runtime if module.startswith(loaded)}, imports())
    assert len(runtime) > 40
    assert runtime <= modules
    parts = {name.split(".")[1] for name in modules if "." in name}
    assert not parts & {"connectors", "job", "plan", "datastream", "spark", "local"}
