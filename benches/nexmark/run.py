"""Nexmark on Penstock, Flink and others: what each query takes, and whether the results are the same.

    python run.py --events 500000 --formats csv,parquet      CPU seconds per round, and a table
    python run.py check --systems penstock-local             results on small sets, line by line, against Flink's
    python run.py goldens                                    Flink's results on these sets, written again
    python run.py profile --queries q5                       where Penstock's time goes

Input and Java classes are made where they are missing. ``README.md`` has the method.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import os
import statistics
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import goldens
import systems
from inputs import FORMATS, GOLDEN, EventSet
from sums import BY_CLOCK, WEIGHTS

QUERIES = tuple(WEIGHTS)
Measured = dict[tuple[str, str, str], list[systems.Round]]
"""Rounds by query, format and system."""


def main() -> int:
    arguments = parser().parse_args()
    commands = {"measure": measure, "check": check, "goldens": make_goldens, "profile": profile}
    return commands[arguments.command](arguments)


def parser() -> argparse.ArgumentParser:
    """The options of all commands."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", nargs="?", default="measure", choices=["measure", "check", "goldens", "profile"])
    options.add_argument("--queries", type=comma, default=QUERIES)
    options.add_argument("--formats", type=comma)
    options.add_argument("--systems", type=comma)
    options.add_argument("--events", type=int, default=500_000)
    options.add_argument("--pyflink-events", type=int, default=50_000, help="10 times as many without state")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--disorder", type=int, default=500, help="milliseconds; the queries wait for 4000")
    options.add_argument("--rate", type=int, default=10_000, help="events per second of event time")
    options.add_argument("--rounds", type=int, default=4, help="in each process, twice as many in a JVM")
    options.add_argument("--passes", type=int, default=1, help="how often all systems take their turn")
    options.add_argument("--out", type=Path, help="append lines of JSON to this file too")
    options.add_argument("--sets", type=comma, help="names of golden sets, for check and goldens")
    options.add_argument("--golden", type=Path, help="another golden file, for check")
    return options


def comma(text: str) -> tuple[str, ...]:
    """What commas separate."""
    return tuple(filter(None, text.split(",")))


# --- measure -------------------------------------------------------------------------------------------------------


def measure(arguments: argparse.Namespace) -> int:
    """Run all systems, query by query, and print lines of JSON and a table."""
    chosen = present(arguments.systems or ("flink", "penstock-local", "penstock-spark"))
    formats = arguments.formats or ("csv", "parquet")
    events = EventSet(arguments.events, arguments.seed, arguments.disorder, arguments.rate)
    events.folder(formats)
    run, measured, checked, wrong = uuid.uuid4().hex, Measured(), Measured(), list[str]()
    turns = itertools.product(range(arguments.passes), arguments.queries, formats, chosen)
    with open(arguments.out or os.devnull, "a") as out:
        for _, query, form, system in turns:
            place, of = (query, form, system), events
            if system == "pyflink":
                of = events._replace(events=arguments.pyflink_events * (10 if query in systems.LIGHT else 1))
            number = arguments.rounds * (2 if system in systems.IN_A_JVM else 1)  # which compiles as it runs
            try:
                rounds = systems.rounds(system, query, form, of, number)
                if system == "pyflink" and rounds:
                    checked[query, form, "penstock-local"] = systems.rounds("penstock-local", query, form, of, 1)
                    checked[place] = rounds
            except RuntimeError as error:
                wrong.append(f"{query} {form} {system} failed: {error}")
                continue
            measured.setdefault(place, []).extend(rounds)
            write(out, run, of, query, form, system, rounds)
    print(table(measured))
    wrong += [*unequal(measured), *unequal(checked)]
    print("\n".join(wrong) if wrong else "All results are equal.")
    return 1 if wrong else 0


def present(wanted: Sequence[str]) -> list[str]:
    """The systems that can run here; why the others cannot goes to the errors."""
    reasons = {system: systems.missing(system) for system in wanted}
    for system, reason in reasons.items():
        if reason:
            print(f"{system} is left out: {reason}", file=sys.stderr)
    return [system for system, reason in reasons.items() if not reason]


def write(
    out: IO[str], run: str, events: EventSet, query: str, format: str, system: str, rounds: Sequence[systems.Round]
) -> None:
    """A line of JSON per round, with the name of the run and of the events."""
    where = {"run": run, "set": str(events), "query": query, "format": format, "system": system}
    for one in rounds:
        facts = {**where, **dataclasses.asdict(one)}
        for file in (sys.stdout, out):
            print(json.dumps(facts), file=file, flush=True)


def seconds(rounds: Sequence[systems.Round], *, with_spark: bool = True) -> float:
    """The median CPU seconds of the second half of the rounds of each process, with or without those of Spark's JVM."""
    half = (max(one.round for one in rounds) + 1) // 2
    return statistics.median(one.cpu - (0 if with_spark else one.spark) for one in rounds if one.round >= half)


def thousands(rounds: Sequence[systems.Round], *, with_spark: bool = True) -> float:
    """Thousands of events per CPU second."""
    return rounds[0].events / seconds(rounds, with_spark=with_spark) / 1000


def table(measured: Measured) -> str:
    """Thousands of events per CPU second, with the ratio to Flink's of the same format."""
    chosen = list(dict.fromkeys(system for _, _, system in measured))
    heads = [part for system in chosen for part in ([system] if system == "flink" else [system, "ratio"])]
    lines = ["| query | format | " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * len(heads)]
    for query, form in dict.fromkeys((query, form) for query, form, _ in measured):
        cells = []
        flink = measured.get((query, form, "flink"))
        for system in chosen:
            rounds = measured.get((query, form, system))
            cells.append(f"{thousands(rounds):,.0f}" if rounds else "")
            if system != "flink":
                cells.append(f"{thousands(rounds) / thousands(flink):.2f}" if rounds and flink else "")
        lines.append(f"| {query} | {form} | " + " | ".join(cells) + " |")
    return "\n".join(["", "Thousands of events per CPU second; ratio: to Flink's, of the same format.", "", *lines])


def unequal(measured: Measured) -> list[str]:
    """The queries whose results are not the same in all rounds of all systems and formats that read the same events;
    Beam makes its own."""
    results: dict[tuple[str, int], dict[tuple[int | None, int], set[str]]] = {}
    for (query, form, system), rounds in measured.items():
        for one in rounds if system != "beam" else ():
            found_by = results.setdefault((query, one.events), {})
            rows = None if query in BY_CLOCK else one.rows
            found_by.setdefault((rows, one.checksum), set()).add(f"{system} {form}")
    texts = []
    for (query, events), found_by in results.items():
        if len(found_by) > 1:
            parts = (f"{', '.join(sorted(who))}: {what}" for what, who in found_by.items())
            texts.append(f"{query} of {events:,} events has several results: " + "; ".join(parts))
    return texts


# --- check ---------------------------------------------------------------------------------------------------------


def check(arguments: argparse.Namespace) -> int:
    """Compare results with golden files, line by line."""
    wrong = 0
    for golden in chosen_goldens(arguments):
        for form in arguments.formats or FORMATS:
            folder = EventSet.of(golden["set"]).folder(FORMATS)
            assert goldens.csv_sha256(folder) == golden["csv_sha256"], f"{folder} has other events"
            for system in present(arguments.systems or ("penstock-local",)):
                results = systems.lines(system, arguments.queries, form, folder)
                differing = list(goldens.differences(golden, results))
                wrong += len(differing)
                print(f"{golden['set']} {form} {system}: {len(results) - len(differing)} of {len(results)} equal")
                for text in differing:
                    print(text)
                    query = text.partition(":")[0]
                    if system != "flink" and not systems.missing("flink"):
                        print("\n".join(goldens.beside_flink(query, form, folder, results[query])))
    return 1 if wrong else 0


def chosen_goldens(arguments: argparse.Namespace) -> Iterator[dict]:
    """The golden files that are asked for."""
    if arguments.golden:
        yield goldens.read(arguments.golden)
        return
    for events in map(EventSet.of, arguments.sets) if arguments.sets else GOLDEN:
        yield goldens.golden_of(events)


def make_goldens(arguments: argparse.Namespace) -> int:
    """Write golden files."""
    for events in map(EventSet.of, arguments.sets) if arguments.sets else GOLDEN:
        print(goldens.make(events, QUERIES))
    return 0


def profile(arguments: argparse.Namespace) -> int:
    """Print where the time of Penstock's local executor goes, by part."""
    from profiles import parts

    events = EventSet(arguments.events, arguments.seed, arguments.disorder, arguments.rate)
    for form in arguments.formats or ("csv",):
        for query in arguments.queries:
            print(parts(query, form, events.folder([form])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
