"""The guard against slower planning: instructions counted by callgrind, so that a busy machine changes nothing.

    python benches/instructions.py              compare with benches/instructions.json; exit status 1 when one has grown
    python benches/instructions.py --update     write what is counted now as the new baseline
    python benches/instructions.py --require    a missing valgrind is an error, not a reason to skip

One run of ``rust/planner/examples/phases`` per phase, bound to one processor, so that parallel phases work in one
thread. With the compiler and the target of the baseline, a count may grow by :data:`TOLERANCE`; another compiler
generates other code, so then only :data:`WIDE_TOLERANCE` is held. Pairs of sizes in :data:`LINEAR` hold that twice the
graph is at most :data:`LINEAR_LIMIT` times the work.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASELINE = ROOT / "benches" / "instructions.json"
TOLERANCE = 0.03
WIDE_TOLERANCE = 0.25
LINEAR_LIMIT = 2.3  # tables that double their room make a few steps of 2 a little larger

SIZE = 20_000
CASES = (
    *((phase, "layered_dag", SIZE) for phase in ("build", "verdicts", "ids", "chains", "job_graph", "execution_graph")),
    ("job_graph", "forward_chain", SIZE),
    ("fan_out", "all_to_all", 1_000),
    ("regions", "layered_dag", SIZE),
    ("regions", "scheduler_batch", SIZE),
    *((phase, "layered_dag", 2_000) for phase in ("streaming_plan", "job_plan")),
)
LINEAR = (
    ("verdicts", "yielding_diamonds", SIZE // 2),
    ("ids", "yielding_diamonds", SIZE // 2),
    ("job_graph", "yielding_diamonds", SIZE // 2),
    ("ids", "uid_table", SIZE // 2),
)
Case = tuple[str, str, int]


def main() -> int:
    parser = argparse.ArgumentParser(description="Count the instructions of the planner's core phases.")
    parser.add_argument("--update", action="store_true", help="write the counts as the new baseline")
    parser.add_argument("--require", action="store_true", help="fail when valgrind or cargo is missing")
    arguments = parser.parse_args()
    missing = [tool for tool in ("valgrind", "cargo") if shutil.which(tool) is None]
    if missing:
        print(f"SKIPPED, {' and '.join(missing)} not installed (apt install valgrind): instruction counts")
        return int(arguments.require)
    counts = count_all(build())
    if arguments.update:
        BASELINE.write_text(json.dumps({**toolchain(), "instructions": counts}, indent=2) + "\n")
        print(f"Wrote {len(counts)} counts to {BASELINE.relative_to(ROOT)}")
    complaints = compare(json.loads(BASELINE.read_text()), toolchain(), counts) + not_linear(counts)
    print("\n".join(complaints or [f"Instruction counts of {len(counts)} phases are as recorded."]))
    return int(bool(complaints))


def build() -> Path:
    """The program that runs one phase. Returns its path."""
    command = ["cargo", "build", "--quiet", "--locked", "--release", "--message-format=json"]
    command += ["--package=penstock-planner", "--example=phases"]
    messages = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    artifacts = [json.loads(line) for line in messages.splitlines()]
    return next(Path(artifact["executable"]) for artifact in artifacts if artifact.get("executable"))


def toolchain() -> dict[str, str]:
    """What decides about the generated code: the compiler and its target."""
    text = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    facts = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {"rustc": facts["release"], "target": facts["host"]}


def cases() -> list[Case]:
    """Everything that is counted."""
    pairs = [(phase, shape, size * factor) for phase, shape, size in LINEAR for factor in (1, 2)]
    return list(dict.fromkeys([*CASES, *pairs]))


def key(case: Case) -> str:
    """``job_graph layered_dag 20000``"""
    return " ".join(map(str, case))


def count_all(binary: Path) -> dict[str, int]:
    """Instructions by case."""
    processors = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    with ThreadPoolExecutor(len(processors), initializer=bind, initargs=(iter(processors),)) as pool:
        return dict(zip(map(key, cases()), pool.map(lambda case: count(binary, case), cases()), strict=True))


def bind(processors: Iterator[int]) -> None:
    """Keep this thread, and what it starts, on the next processor, where the system knows how to."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {next(processors)})


def count(binary: Path, case: Case) -> int:
    """Instructions of one phase, without what it needs beforehand."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "callgrind.out"
        tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        scope = ["--collect-atstart=no", "--toggle-collect=*measured*"]
        run = subprocess.run([*tool, *scope, str(binary), *map(str, case)], capture_output=True, text=True)
        match = re.search(r"^summary: (\d+)", out.read_text(), re.M) if run.returncode == 0 else None
    if match is None or int(match[1]) == 0:
        raise SystemExit(f"callgrind did not count {key(case)}:\n{run.stderr}")
    return int(match[1])


def compare(baseline: Mapping[str, object], here: Mapping[str, str], counts: Mapping[str, int]) -> list[str]:
    """What differs from the baseline by more than it may; phases that became cheaper are only told."""
    recorded = dict(baseline["instructions"])  # type: ignore[call-overload]
    same = all(baseline[fact] == value for fact, value in here.items())
    tolerance = TOLERANCE if same else WIDE_TOLERANCE
    complaints = []
    if recorded.keys() != counts.keys():
        changed = ", ".join(sorted(recorded.keys() ^ counts.keys()))
        complaints.append(f"The baseline has other phases than are counted ({changed}): make instructions-update")
    for name in [name for name in counts if name in recorded]:
        change = counts[name] / recorded[name] - 1
        line = f"{name}: {recorded[name]:,} → {counts[name]:,} instructions ({change:+.1%})"
        if change > tolerance:
            complaints.append(f"{line}, more than {tolerance:.0%}. If that is worth it: make instructions-update")
        elif change < -tolerance:
            print(f"{line}: cheaper than recorded; keep it with make instructions-update")
    return complaints


def not_linear(counts: Mapping[str, int]) -> list[str]:
    """The phases of :data:`LINEAR` whose work more than doubles with the graph."""
    complaints = []
    for phase, shape, size in LINEAR:
        ratio = counts[key((phase, shape, 2 * size))] / counts[key((phase, shape, size))]
        if ratio > LINEAR_LIMIT:
            complaints.append(f"{phase} of {shape}: twice the operators are {ratio:.2f} times the instructions")
    return complaints


if __name__ == "__main__":
    sys.exit(main())
