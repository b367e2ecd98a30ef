"""Steps of a program that never ends, timed by the manifests that they leave; prints a line of JSON per run.

    python stepping.py '{"job": "live_steps:sums", "arguments": {"keys": 1000}, "warm": 20, "steps": 30, "runs": 2}'

The job is a process beside this one: ``job(folder)`` runs with that checkpoint directory until it is killed. A run
    waits for
``warm`` manifests, then takes the times of ``steps`` more; the next run goes on with the same folder. ``seconds`` are
those between two manifests, ``first`` those from the start of the process to the first manifest of the run; ``bytes``
are those of the state files that came with the timed steps.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tree
from feeding import POLL, loaded

TIMEOUT = 300


@dataclass(frozen=True)
class Spec:
    """What to run.

    Attributes:
        job: module and function.
        arguments: of the function.
        warm: steps that are not timed.
        steps: that are.
        runs: how often the job is killed and goes on, with one.
    """

    job: str
    arguments: dict[str, Any]
    warm: int
    steps: int
    runs: int = 1


def main() -> None:
    if len(sys.argv) > 2:
        loaded(json.loads(sys.argv[1]))(sys.argv[2])
        return
    spec = Spec(**json.loads(sys.argv[1]))
    tree.adopt()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(spec.runs):
            warm = spec.warm if number == 0 else 1
            print(json.dumps(_run(spec, Path(folder), warm)), flush=True)


def _run(spec: Spec, folder: Path, warm: int) -> dict[str, Any]:
    known, started = _versions(folder), time.time()
    call = json.dumps({"job": spec.job, "arguments": spec.arguments})
    child = subprocess.Popen([sys.executable, __file__, call, str(folder)])
    try:
        first = _wait(folder, len(known) + 1, child)[len(known)]
        before = _wait(folder, len(known) + warm, child)
        at, cpu = len(before), tree.cpu(with_own=False)
        files = _sizes(folder)
        after = _wait(folder, at + spec.steps, child)[: at + spec.steps]
        spent = {kind: second - cpu[kind] for kind, second in tree.cpu(with_own=False).items()}
        written = sum(size for name, size in _sizes(folder).items() if name not in files)
        peaks = tree.peak_bytes()
    finally:
        tree.end()
    seconds = [later - earlier for earlier, later in zip(after[at - 1 :], after[at:], strict=False)]
    facts = {"first": first - started, "seconds": seconds, "cpu": spent, "bytes": written, "peak_bytes": peaks}
    return {"job": spec.job, "steps": len(seconds), **facts}


def _wait(folder: Path, count: int, child: subprocess.Popen[bytes]) -> list[float]:
    """Until there are so many manifests: when each was written."""
    until = time.time() + TIMEOUT
    while len(versions := _versions(folder)) < count:
        if child.poll() is not None:
            raise SystemExit(f"the job ended by itself with status {child.returncode} after {len(versions)} steps")
        if time.time() > until:
            os.kill(child.pid, signal.SIGKILL)
            raise SystemExit(f"{len(versions)} of {count} steps in {TIMEOUT} s")
        time.sleep(POLL)
    return versions


def _versions(folder: Path) -> list[float]:
    """When each manifest was written, in their order."""
    return sorted(path.stat().st_mtime for path in (folder / "manifests").glob("manifest-*.json"))


def _sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in (folder / "state").glob("*")}


if __name__ == "__main__":
    main()
