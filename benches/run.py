"""``make bench``: every step in a process of its own, then the report.

    python benches/run.py                        everything
    python benches/run.py --steps flink,regions  these again; the figures of the other steps stay as they are
    python benches/run.py --only-report          the report from what has been measured

A step that fails, dies or takes too long loses its own figures only; what it measured before stays. Settings:

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
from typing import Any

import machine
import report
import results as store
from results import RAW, ROOT, Results

STEPS = {  # name: (file or test, minutes it may take); small things first, so that something is seen soon
    "api": ("test_api.py", 5),
    "core": ("test_core.py", 10),
    "planner": ("test_planner.py", 15),
    "fan_out": ("test_fan_out.py", 5),
    "regions": ("test_regions.py", 5),
    "memory": ("test_memory.py", 5),
    "job_memory": ("test_job_memory.py", 30),
    "python": ("test_python.py", 5),
    "graph_libraries": ("test_graph_libraries.py", 5),
    "runtime": ("test_runtime.py", 8),
    "start": ("test_running.py::test_start", 10),
    "chain": ("test_running.py::test_chain", 8),
    "word_count": ("test_running.py::test_word_count", 8),
    "engines": ("test_running.py::test_engine", 15),
    "flink": ("test_flink.py", 45),
}
STATE = RAW / "steps.json"  # which steps have run, and how they ended


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure, and write the report.")
    parser.add_argument("--steps", default=",".join(STEPS), help=f"some of {','.join(STEPS)}")
    parser.add_argument("--only-report", action="store_true", help="measure nothing")
    arguments = parser.parse_args()
    RAW.mkdir(parents=True, exist_ok=True)
    names = [] if arguments.only_report else arguments.steps.split(",")
    unknown = set(names) - STEPS.keys()
    if unknown:
        parser.error(f"no step {', '.join(sorted(unknown))}; there are {', '.join(STEPS)}")
    steps = json.loads(STATE.read_text()) if STATE.exists() else {}
    for number, name in enumerate(names, 1):
        print(f"\n=== step {number} of {len(names)}: {name}", flush=True)
        steps[name] = run(name)
        STATE.write_text(json.dumps(steps))
    write_report({name: steps[name] for name in STEPS if name in steps})
    return int(any(steps[name]["ended"] != "passed" for name in names))


def run(name: str) -> dict[str, Any]:
    """One step: when it started, how many seconds it took, how it ended."""
    file, minutes = STEPS[name]
    records = RAW / f"{name}.jsonl"
    records.unlink(missing_ok=True)
    environment = {**os.environ, "PENSTOCK_BENCH_RECORDS": str(records)}
    command = [sys.executable, "-m", "pytest", "-v", "--tb=short", f"benches/{file}", "--benchmark-disable-gc"]
    command += ["--benchmark-quiet", "--benchmark-json", str(RAW / f"{name}.benchmark.json")]
    started = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    clock = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    try:
        code = process.wait(60 * minutes)
        ended = {0: "passed", 1: "some benches failed"}.get(code, f"ended with status {code}")
    except subprocess.TimeoutExpired:
        ended = f"stopped after {minutes} minutes"
    finally:
        stop(process)
    seconds = round(time.monotonic() - clock)
    print(f"=== {name}: {ended} after {seconds} s", flush=True)
    return {"started": started, "seconds": seconds, "ended": ended}


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a step that still runs, and the JVM it may have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def write_report(steps: dict[str, Any]) -> None:
    """The files of benches/report and the section of the README."""
    store.save(store.updated(store.load(), Results(machine.describe(), steps, store.read_raw())))
    found = store.load()
    documents = report.documents(found)
    report.write(found, documents)
    names = ", ".join(str(path.relative_to(ROOT)) for path in documents)
    print(f"\n{report.target_table(report.targets_of(found))}\n\nWritten: {names}")


if __name__ == "__main__":
    sys.exit(main())
