"""The programs of the suite, in one shape: run with a setting, what comes out."""

from __future__ import annotations

import contextlib
import io
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from penstock.errors import PenstockError
from penstock.plan import Pipeline
from tests.datastream.run_scripts import result_of
from tests.datastream.test_run_scripts import records
from tests.generator.bounded import plain_program
from tests.job.programs import Program
from tests.job.shapes import SHAPES
from tests.matrix.knobs import CHAINING, PARALLELISM, Setting, settings_of

RANDOM_PROGRAMS = 40


@dataclass
class Outcome:
    outputs: dict[str, list[tuple[int | None, Any]]] = field(default_factory=dict)
    counts: list[tuple[str, int | None, int, int]] = field(default_factory=list)
    late: dict[int | None, int] = field(default_factory=dict)
    trace: dict[str, list[str]] = field(default_factory=dict)
    error: list[list[str]] = field(default_factory=list)
    refused: str = ""

    def promised(self, timed: bool = False) -> Any:
        """What does not depend on order, or on who did it: bags of records, sums of counts."""
        bags = {sink: Counter(repr(record) for _, record in records) for sink, records in self.outputs.items()}
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for name, _, records_in, records_out in self.counts:
            counts[name][0] += records_in
            counts[name][1] += records_out
        error = [class_ for class_, _ in self.error] if timed else self.error
        return bags, dict(counts), sum(self.late.values()), error, self.refused


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[Setting, Any], Outcome]


def _run_script(script: dict[str, Any], setting: Setting, executor: Any) -> Outcome:
    varied = {"parallelism": setting[PARALLELISM], "settings": settings_of(setting)}
    result = result_of(script, executor, setting[CHAINING], **varied)
    refused = result.get("unsupported") or result.get("refused")
    if refused:
        return Outcome(refused=str(refused))
    if "error" in result:
        return Outcome(error=result["error"])  # how far it got before is nobody's promise
    late: dict[int | None, int] = Counter()
    for report in executor.reports:
        late[report.subtask] += sum(counter.late_dropped for counter in report.counters)
    outputs = {sink: [tuple(text) for text in output["texts"]] for sink, output in result["output"].items()}
    counts = [tuple(count) for count in result["counts"]]
    trace = result.get("trace", {})
    if not setting[CHAINING]:  # tasks of one name write to one file, on Spark at the same time
        trace = {task: sorted(lines) for task, lines in trace.items()}
    return Outcome(outputs, counts, late, trace)


def _run_built(pipeline: Callable[[Setting], Pipeline], setting: Setting, executor: Any) -> Outcome:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            result = executor.execute(pipeline(setting))
    except PenstockError as error:
        return Outcome(refused=str(error))
    outputs = {sink: [(None, record) for record in records] for sink, records in result.collected.items()}
    lines = [line.rpartition("> ") for line in printed.getvalue().splitlines()]
    counts, late = [], Counter[Any]()
    for report in executor.reports:
        for counter in report.counters:
            counts.append((counter.name, report.subtask, counter.records_in, counter.records_out))
            late[report.subtask] += counter.late_dropped
    return Outcome(outputs | {"print": [(subtask or None, text) for subtask, _, text in lines]}, sorted(counts), late)


def _shape(build: Callable[..., Program], setting: Setting) -> Pipeline:
    program = build(chaining=setting[CHAINING], scale=setting[PARALLELISM])
    program.settings.update(settings_of(setting))
    return program.pipeline()


def _random(seed: int, setting: Setting) -> Pipeline:
    return plain_program(seed, setting[CHAINING], setting[PARALLELISM], **settings_of(setting))[0]


@cache
def cases() -> dict[str, Case]:
    scripts = {name: partial(_run_script, record["script"]) for name, record in records().items()}
    built = {f"shape {name}": partial(_run_built, partial(_shape, build)) for name, build in SHAPES.items()}
    rand = {f"random {seed}": partial(_run_built, partial(_random, seed)) for seed in range(RANDOM_PROGRAMS)}
    return {name: Case(name, run) for name, run in {**scripts, **built, **rand}.items()}
