"""Programs of the run scripts that are stopped with a savepoint, and begun from it by another job."""

from __future__ import annotations

import argparse
import os
import shutil
from collections import defaultdict
from typing import Any

from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.store import write_savepoint
from tests.datastream import feeding
from tests.datastream.run_exactly_once import ExactNotes
from tests.datastream.run_scripts import restarts, result_of

APART = 1_000_000
"""Between the versions of two jobs, in the notes of their sinks."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--restore", type=int, metavar="K", help="stop with a savepoint after so many steps, and go on")
    parser.add_argument("--rescale", type=int, metavar="P", help="go on with this parallelism where a script sets none")


class Executor:
    """An executor that keeps how many subtasks operators had."""

    def __init__(self, executor: Any) -> None:
        self.executor = executor
        self.parallelisms: list[dict[int, int]] = []

    @property
    def reports(self) -> Any:
        return self.executor.reports

    def execute(self, pipeline: Any) -> Any:
        self.parallelisms.append({node.id: node.parallelism for node in pipeline.stream_graph.nodes})
        return self.executor.execute(pipeline)


class Stop:
    """Says when a job has made so many steps."""

    def __init__(self, folder: str, steps: int) -> None:
        self._files, self._steps, self.came = JobFolder(folder).files, steps, False

    def __call__(self) -> bool:
        newest = self._files.newest()
        self.came = newest is not None and newest.version >= self._steps
        return self.came


def restored_result(
    script: dict[str, Any],
    executor: Any,
    root: str,
    feed: str,
    steps: int,
    parallelism: int | None = None,
    native: str | None = None,
) -> dict[str, Any]:
    """The result of a script whose job is stopped with a savepoint, and begun from it by another."""
    old = os.path.join(root, "job")
    notes, watched, stop = ExactNotes(root, restarts(script)), Executor(executor), Stop(old, steps)
    with feeding.stopped(stop), feeding.fed(feeding.sizes(feed, script.get("name"), 0)):
        settings = {"execution.checkpointing.dir": old, **feeding.native_settings(native)}
        result = result_of(script, watched, notes=notes, settings=settings)
    if not stop.came:
        return result
    folder = JobFolder(old)
    newest = folder.newest()
    assert newest is not None
    write_savepoint(folder.files, newest, os.path.join(root, "taken"), "stop")
    shutil.rmtree(old)
    savepoint = shutil.move(os.path.join(root, "taken"), os.path.join(root, "moved"))
    folders = {"execution.checkpointing.dir": os.path.join(root, "other"), "execution.savepoint.path": savepoint}
    settings = folders | feeding.native_settings(native)
    if parallelism is not None:
        settings["parallelism.default"] = str(parallelism)
    notes.offset = APART
    with feeding.fed(feeding.sizes(feed, script.get("name"), 1)):
        result = result_of(script, watched, notes=notes, settings=settings)
    first, second = watched.parallelisms
    return result if first == second else without_subtasks(result)


def without_subtasks(result: dict[str, Any]) -> dict[str, Any]:
    """A result that does not say which subtask did what."""
    if "output" not in result:
        return result
    output = {
        name: {**sink, "texts": [[None, text] for _, text in sink["texts"]]} for name, sink in result["output"].items()
    }
    plain = {**result, "output": output}
    if "counts" in result:
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for name, _, records_in, records_out in result["counts"]:
            sums[name] = [sums[name][0] + records_in, sums[name][1] + records_out]
        plain["counts"] = [[name, None, *counts] for name, counts in sorted(sums.items())]
    if "late_dropped" in result:
        plain["late_dropped"] = [[None, sum(count for _, count in result["late_dropped"])]]
    return plain
