"""Results of the run scripts: what a program that has run has left in notes and reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from penstock.errors import PenstockError, StandInError
from tests.datastream import run_notes
from tests.datastream.run_notes import Notes

NAME_LENGTH = 80
"""Flink's metrics cut operator names."""


def noted(script: dict[str, Any], notes: Notes, random: bool) -> dict[str, Any]:
    output: dict[str, Any] = {sink: {"texts": []} for sink in _sinks(script)}
    for (sink, subtask), texts in notes.read("sink").items():
        output[sink]["texts"] += [[None if random else subtask, text] for text in texts]
    trace = {task: lines for (task, _), lines in notes.read("trace").items()}
    return {"output": output} | ({"trace": trace} if trace else {})


def _sinks(script: dict[str, Any]) -> Iterator[str]:
    for _, method, *arguments in script["calls"]:
        if method == "collect":
            yield arguments[0]
        elif method == "addSink" and arguments[0]["fn"] == "TraceSink":
            yield arguments[0]["args"][0]


def random_start(graph: Any) -> bool:
    """Whether some edge deals records out from a random start."""
    parallelism = {node.id: node.parallelism for node in graph.nodes}
    return any(edge.partitioner in ("REBALANCE", "SHUFFLE") and parallelism[edge.target] > 1 for edge in graph.edges)


def counts(reports: Iterable[Any], summed: bool) -> list[list[Any]]:
    """Counts by operator and subtask; summed, by name: Flink's metrics then know no more of an operator."""
    counts: dict[Any, list[int]] = defaultdict(lambda: [0, 0])
    for report in reports:
        for counter in report.counters:
            if counter.name.startswith("IterationSource"):
                continue  # no operator to Flink
            place = (None, None) if summed else (report.subtask, counter.operator_id)
            count = counts[(_name(counter.name), *place)]
            count[0] += counter.records_in
            count[1] += counter.records_out
    rows = [[name, subtask, *count] for (name, subtask, _), count in counts.items()]
    return sorted(rows, key=lambda row: (row[0], -1 if row[1] is None else row[1], *row[2:]))


def _name(name: str) -> str:
    return "IterationSink" if name.startswith("IterationSink-") else name[:NAME_LENGTH]


def late(reports: Iterable[Any]) -> list[list[int]]:
    late: dict[int, int] = defaultdict(int)
    for report in reports:
        late[report.subtask] += sum(counter.late_dropped for counter in report.counters)
    return [[subtask, count] for subtask, count in sorted(late.items()) if count]


_JAVA: dict[type[BaseException], str] = {TimeoutError: "java.util.concurrent.TimeoutException"}
_OF_RUNS = f"{run_notes.__name__}."


def causes(error: BaseException | None) -> list[list[str]]:
    """Class and message of the user's exception and its causes, outermost first."""
    causes = []
    while error is not None:
        causes.append(_cause(error))
        error = error.__cause__
    return causes


def _cause(error: BaseException) -> list[str]:
    if isinstance(error, StandInError):  # as it comes from Spark's executors
        name = error.kind.removeprefix(_OF_RUNS)
        return [getattr(getattr(run_notes, name, None), "java", name), error.text]
    penstocks_own = error.flink_class if isinstance(error, PenstockError) else None
    return [penstocks_own or getattr(error, "java", _JAVA.get(type(error), type(error).__name__)), str(error)]
