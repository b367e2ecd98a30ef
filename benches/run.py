"""``make bench``: every step in a process of its own, then the report.

    python benches/run.py                             everything, as one run
    python benches/run.py --steps word_count,engines  these, as one run; the figures of other steps stay as they are
    python benches/run.py --only-report               the report from what has been measured

Figures are divided by each other only within one run. A run without some of the peers of a step (``steps.PEERS``) is
kept, but the report goes on showing the last run that has them all. A step that fails, dies or takes too long loses
its own figures only; what it measured before stays, also when the run is interrupted. Settings:

    PENSTOCK_BENCH_MAX=100000      the largest size (default 10,000,000)
    PENSTOCK_BENCH_HEAP=8g         what each JVM may take
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import calibration
import machine
import report
import results as store
import tables
from results import RAW, ROOT, Run
from steps import STEPS, without_peers


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure, and write the report.")
    parser.add_argument("--steps", default=",".join(STEPS), help=f"some of {','.join(STEPS)}")
    parser.add_argument("--only-report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    names = [] if arguments.only_report else arguments.steps.split(",")
    unknown = set(names) - STEPS.keys()
    if unknown:
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    ended = measure(names) if names else []
    write_report()
    return int(any(end != "passed" for end in ended))


def measure(names: list[str]) -> list[str]:
    """One run of some steps; how each ended."""
    for group, lacking in without_peers(names).items():
        print(f"Without {', '.join(lacking)} the report keeps the last run of all of {', '.join(group)}.")
    run = begin()
    folder = RAW / run.id
    folder.mkdir(parents=True)
    for number, name in enumerate(names, 1):
        print(f"\n=== step {number} of {len(names)}: {name}", flush=True)
        run = replace(run, steps={**run.steps, name: step(name, folder)})
        (folder / "run.json").write_text(json.dumps(store.head(run)))
    return [facts["ended"] for facts in run.steps.values()]


def begin() -> Run:
    """A run of this machine and this commit, without steps so far."""
    now, commit = datetime.datetime.now(datetime.timezone.utc), machine.commit()
    return Run(
        id=f"{now:%Y-%m-%dT%H-%M-%SZ}-{commit}",
        started=f"{now:%Y-%m-%d %H:%M UTC}",
        commit=commit,
        machine=machine.describe(),
        largest=int(os.environ.get("PENSTOCK_BENCH_MAX", 0)) or None,
    )


def step(name: str, folder: Path) -> dict[str, Any]:
    """One step: when it started, how many seconds it took, how it ended, and the calibration before and after it."""
    started = f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M UTC}"
    before, clock = calibration.seconds(), time.monotonic()
    ended = pytest(name, folder)
    seconds = round(time.monotonic() - clock)
    print(f"=== {name}: {ended} after {seconds} s", flush=True)
    speed = [store.short(measurement) for measurement in (before, calibration.seconds())]
    return {"started": started, "seconds": seconds, "ended": ended, "calibration": speed}


def pytest(name: str, folder: Path) -> str:
    """Run a step's benches; how they ended."""
    file, minutes = STEPS[name]
    environment = {**os.environ, "PENSTOCK_BENCH_RECORDS": str(folder / f"{name}.jsonl")}
    command = [sys.executable, "-m", "pytest", "-v", "--tb=short", f"benches/{file}", "--benchmark-disable-gc"]
    command += ["-o", "faulthandler_timeout=0"]  # that of one test; a step has its own time
    command += ["--benchmark-quiet", "--benchmark-json", str(folder / f"{name}.benchmark.json")]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    try:
        code = process.wait(60 * minutes)
        return {0: "passed", 1: "some benches failed"}.get(code, f"ended with status {code}")
    except subprocess.TimeoutExpired:
        return f"stopped after {minutes} minutes"
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a step that still runs, and the JVM it may have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def write_report() -> None:
    """The files of benches/report, and the documents that show figures."""
    store.save(store.merged([*store.load().runs, *store.read_raw()]))
    results = store.load()
    documents = report.documents(results)
    report.write(results, documents)
    names = ", ".join(str(path.relative_to(ROOT)) for path in documents)
    print(f"\n{tables.target_table(tables.targets_of(results))}\n\nWritten: {names}")


if __name__ == "__main__":
    sys.exit(main())
