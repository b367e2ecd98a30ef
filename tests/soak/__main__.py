"""Run the job, watch it, and say whether anything grows: ``python -m tests.soak [--executor spark] [--minutes 60]``."""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.soak.flat import growths
from tests.soak.job import EVERY
from tests.soak.processes import Use, used


def main() -> int:
    options = _options()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(_watched(folder, options.executor, options.rate, options.minutes * 60))
    with open(folder / "soak.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    failures = [*_miscounted(folder, rows[-1]["records"])]
    for name, growth in growths(rows).items():
        print(
            f"{name:16} {growth.level:12.1f}  {growth.change:+9.2f} in the last two thirds, {growth.bound:.2f} allowed"
        )
        if growth.change > growth.bound:
            failures.append(f"{name} grows")
    _draw(rows, folder / "soak.png", options)
    print(f"{rows[-1]['records']:,} records in {rows[-1]['version']:,} steps; {folder}/soak.csv and soak.png")
    for failure in failures:
        print("FAILED:", failure)
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--executor", choices=("local", "spark"), default="local")
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--rate", type=float, default=2000, help="records per second")
    parser.add_argument("--folder", help="for all files; a temporary one")
    return parser.parse_args()


def _watched(folder: Path, executor: str, rate: float, seconds: float) -> Iterator[dict[str, Any]]:
    """Run the job; a row per line that it writes, with what it uses at that time."""
    command = [sys.executable, "-m", "tests.soak.job", executor, str(folder), str(rate), str(seconds)]
    process = subprocess.Popen(command)
    lines = folder / "steps.jsonl"
    began, seen, last = time.time(), 0, time.time()
    try:
        while process.poll() is None:
            time.sleep(EVERY / 10)
            text = lines.read_text().splitlines() if lines.exists() else []
            for line in text[seen:]:
                last = time.time()
                use = used(process.pid)
                if use.python:  # it has not ended meanwhile
                    yield _row(json.loads(line), use, folder / "job", began)
            seen = len(text)
            if time.time() - last > 300:
                raise TimeoutError("The job has said nothing for five minutes.")
    finally:
        if process.poll() is None:
            process.kill()
    if process.returncode:
        raise RuntimeError(f"The job has ended by {process.returncode}.")


def _row(line: dict[str, Any], use: Use, folder: Path, began: float) -> dict[str, Any]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    sizes = 0
    for path in files:
        try:
            sizes += path.stat().st_size
        except FileNotFoundError:  # removed meanwhile
            continue
    return {
        "second": round(line["time"] - began, 1),
        "version": line["version"],
        "records": line["records"],
        "step_ms": round(line["step"], 1),
        "longest_ms": round(line["longest"], 1),
        **{f"{part}_ms": round(line["parts"].get(part, 0), 1) for part in ("run", "manifest", "publish")},
        "state_bytes": line["state"],
        "files": len(files),
        "folder_bytes": sizes,
        "python_mb": round(use.python, 1),
        "jvm_mb": round(use.jvm, 1),
        "cpu_seconds": round(use.seconds, 2),
        "processes": use.processes,
    }


def _miscounted(folder: Path, least: int) -> Iterator[str]:
    """What is wrong with the files: of each key they must have 1, 2, … once each, in all as many as numbers."""
    counts: dict[int, list[int]] = {}  # records, the sum of their counts, the largest count
    for path in (folder / "out").rglob("part-*"):
        for key, count in (map(int, line.split()) for line in path.read_text().splitlines()):
            totals = counts.setdefault(key, [0, 0, 0])
            totals[0] += 1
            totals[1] += count
            totals[2] = max(totals[2], count)
    for key, (records, total, largest) in counts.items():
        if not (records == largest and total == largest * (largest + 1) // 2):
            yield f"key {key} has {records} records up to {largest}, whose sum is {total}"
    written = sum(totals_of[0] for totals_of in counts.values())
    if written < least:
        yield f"{written} records of at least {least} are in the files"


def _draw(rows: list[dict[str, Any]], path: Path, options: argparse.Namespace) -> None:
    from matplotlib.figure import Figure

    minutes = [row["second"] / 60 for row in rows]
    figure = Figure(figsize=(9, 7), layout="constrained")
    panels: Any = figure.subplots(3, 1, sharex=True)
    panels[0].plot(minutes, [row["python_mb"] for row in rows], label="Python processes", color="#c1121f")
    if any(row["jvm_mb"] for row in rows):
        panels[0].plot(minutes, [row["jvm_mb"] for row in rows], label="JVM", color="#003049")
    panels[0].set_ylabel("resident memory, MB")
    panels[1].plot(minutes, [row["step_ms"] for row in rows], label="median of the last 100", color="#c1121f")
    panels[1].plot(
        minutes, [row["longest_ms"] for row in rows], label="99th percentile", color="#669bbc", linewidth=0.8
    )
    panels[1].set_ylabel("step, ms")
    panels[2].plot(minutes, [row["files"] for row in rows], label="files", color="#c1121f")
    panels[2].plot(minutes, [row["folder_bytes"] / 1000 for row in rows], label="kB", color="#669bbc")
    panels[2].set_ylabel("checkpoint directory")
    panels[2].set_xlabel(f"minutes, {options.rate:,.0f} records per second, executor {options.executor!r}")
    for panel in panels:
        panel.set_ylim(0, 1.2 * max(float(y) for line in panel.lines for y in line.get_ydata()))
        panel.legend(loc="upper left", ncols=2)
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.exit(main())
