"""Kill jobs a hundred times, and look at what they have left: ``python -m tests.chaos [--kills 100] [--seed 1]``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tests.chaos.parts import PARTS, Defect, Outcome, Places


def main() -> int:
    options = _options()
    parts = [name for name in PARTS if name in (options.parts or PARTS)]
    began, outcomes = time.monotonic(), list[Outcome]()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    with tempfile.TemporaryDirectory(prefix="chaos-") as folder, ExitStack() as stack:
        places = Places(Path(folder), stack, options.seed, options.before, options.all_changes, options.native)
        print(f"seed {options.seed}")
        for name, kills in _shares(parts, options.kills).items():
            try:
                outcomes += PARTS[name].run(places, name, kills)
            except Defect as defect:
                print("\n".join(_table(outcomes)))
                print(f"FAILED in {name}: {defect}")
                return 1
    print("\n".join(_table(outcomes)))
    kills = sum(outcome.kills for outcome in outcomes)
    print(f"{kills} kills: all output exact, nothing left. {time.monotonic() - began:.0f} seconds.")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="of all parts together")
    parser.add_argument("--seed", type=int, default=1, help="the same choices as with the same seed")
    named = "; ".join(f"{name}: {part.what}" for name, part in PARTS.items())
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), metavar="PART", help=f"some of these. {named}")
    parser.add_argument("--before", type=int, metavar="CHANGE", help="die before this change only")
    parser.add_argument("--all-changes", action="store_true", help="die before every change, one after the other")
    parser.add_argument("--native", choices=("auto", "off"), help="penstock.native of the job")
    options = parser.parse_args()
    if (options.before is not None or options.all_changes) and not options.parts:
        options.parts = ["changes"]
    return options


def _shares(parts: list[str], kills: int) -> dict[str, int]:
    """How many kills each part has, in proportion, and so many altogether."""
    shares, done, kills_of = sum(PARTS[name].share for name in parts), 0, {}
    for name in parts:
        before = done * kills // max(shares, 1)
        done += PARTS[name].share
        kills_of[name] = done * kills // max(shares, 1) - before
    return kills_of


def _table(outcomes: list[Outcome]) -> list[str]:
    """The outcomes as a table of Markdown."""
    rows = [("Where", "Killed", "Times", "When", "Left by dead drivers", "Left at the end")]
    rows += [
        (outcome.where, outcome.victim, str(outcome.kills), outcome.when, outcome.left, outcome.end)
        for outcome in outcomes
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [" | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in rows]
    return [f"| {line} |" for line in [lines[0], " | ".join("-" * width for width in widths), *lines[1:]]]


if __name__ == "__main__":
    sys.exit(main())
