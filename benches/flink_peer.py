"""The real Flink as a peer: builds ``benches/flink`` on demand, runs it, parses what it prints.

What a bench needs::

    reason = flink_peer.missing("2.3")            # None, or a sentence: no java, no mvn, no network ...
    for timing in flink_peer.time("1.11", graph, ("hash", "job_graph"), rounds=5):
        timing.phase, timing.wall_ms, timing.cpu_ms, timing.checksum, timing.died
    for result in flink_peer.results("2.3", spec_lines): ...   # RESULT of each SPEC line, as dicts, in order

A graph is the path of a file with one SPEC, or anything with ``to_json()`` (a ``StreamGraph``).

Phases, each on its own clock, always on a graph or job made anew outside the clock:

| phase | on the clock |
| --- | --- |
| ``hash`` | ``StreamGraphHasherV2.traverseStreamGraphAndGenerateHashes`` |
| ``job_graph`` | ``StreamingJobGraphGenerator.createJobGraph``, in one thread |
| ``serialisation`` | writing the content of all operator configurations once more, as ``job_graph`` does |
| ``execution_graph`` | ``attachJobGraph``: subtasks, edges, topology, regions |
| ``connect`` | the part of it that connects subtasks (``connectToPredecessors``) |
| ``regions`` | the scheduling topology with its pipelined regions, from a finished ExecutionGraph |
| ``restart`` | ``getTasksNeedingRestart`` of the region failover strategy: subtask 0 of the first vertex failed |
| ``release`` | ``vertexFinished`` of the region release strategy, for every subtask in order |

``python benches/flink_peer.py 2.3 < specs.jsonl > results.jsonl`` makes golden records (``make golden``).

A phase that dies of the stack, of memory, or of time is reported in ``Timing.died``, and so are the phases after it
where the JVM itself is gone. Checksums are defined in ``benches/flink/README.md``; ``benches/checksums.py`` makes the
same from Penstock's tables.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

VERSIONS = ("1.11", "2.3")
PHASES = ("hash", "job_graph", "serialisation", "execution_graph", "connect", "regions", "restart", "release")
HEAP = os.environ.get("PENSTOCK_BENCH_HEAP", "4g")
PROJECT = Path(__file__).resolve().parent / "flink"


@dataclass(frozen=True)
class Timing:
    """One phase on one graph: medians over the rounds in milliseconds, and what came out.

    ``checksum`` is an object of the README's definitions, ``None`` for ``connect``; ``heap_mb`` is what a finished
    ExecutionGraph retains. A phase that ``died`` (the reason, a sentence) has no figures.
    """

    version: str
    phase: str
    nodes: int = 0
    edges: int = 0
    wall_ms: float | None = None
    cpu_ms: float | None = None
    walls: tuple[float, ...] = ()
    cpus: tuple[float, ...] = ()
    checksum: dict[str, Any] | None = None
    heap_mb: float | None = None
    died: str | None = None


def time(
    version: str,
    graph: Any,
    phases: Sequence[str] = PHASES,
    *,
    rounds: int = 3,
    warm: Any = None,
    warm_seconds: float = 3,
    heap: str = HEAP,
    stack: str = "1g",
    timeout: float = 600,
    max_edges: int = 20_000_000,
) -> list[Timing]:
    """Run phases on one graph inside one JVM.

    Args:
        version: one of ``VERSIONS``.
        graph: path of a SPEC, or something with ``to_json()``.
        phases: some of ``PHASES``, in this order.
        rounds: measured rounds per phase, after warming up.
        warm: a smaller graph to warm up on; without it each phase warms up on ``graph`` itself, at least once.
        warm_seconds: how long each phase warms up.
        heap, stack: sizes as the JVM writes them; Flink recurses as deep as a graph is.
        timeout: seconds for everything; what is not done by then has died.
        max_edges: fingerprint all ExecutionEdges of an ExecutionGraph up to that many.

    Returns:
        A Timing per phase.
    """
    options = {"rounds": rounds, "warm_ms": round(warm_seconds * 1000), "max_edges": max_edges}
    with _spec_file(graph) as path, _spec_file(warm) as warm_path:
        if warm_path:
            options["warm"] = warm_path
        command = [*_java(version, heap, stack, options), "time", path, *phases]
        lines, reason = _run(command, timeout)
    timings = [_timing(version, json.loads(line)) for line in lines]
    return timings + [Timing(version, phase, died=reason) for phase in phases[len(timings) :]]


def results(version: str, specs: Iterable[str], *, heap: str = "2g", stack: str = "64m") -> Iterator[dict[str, Any]]:
    """What Flink makes of each SPEC: the RESULT objects of the golden records, in order.

    Raises:
        RuntimeError: the JVM gave up; a failure inside Flink is part of a RESULT instead.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*_java(version, heap, stack, {}), "result"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        )
        assert process.stdin
        assert process.stdout
        feeder = threading.Thread(target=_feed, args=(process.stdin, specs), daemon=True)
        feeder.start()
        try:
            for line in process.stdout:
                yield json.loads(line)
            if process.wait() != 0:
                raise RuntimeError(f"Flink {version} gave up with status {process.returncode}: {_tail(errors)}")
        finally:
            process.kill()
            process.wait()


def printed(version: str, main: str, *arguments: str, jars: Path | None = None) -> list[str]:
    """The lines that a class of ``benches/flink`` prints.

    Args:
        version: one of ``VERSIONS``.
        main: the class, with its package.
        arguments: of its ``main``.
        jars: a folder with more jars for the class path.

    Raises:
        RuntimeError: it cannot run here, or has failed.
    """
    java, *options, _, jar = _java(version, "1g", "64m", {})
    opened = [f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in ("lang", "time", "util")]
    folders = (Path(jar).parent / "lib", *([] if jars is None else [jars]))
    classes = os.pathsep.join([jar, *(str(folder / "*") for folder in folders)])
    command = [java, *options, *opened, "-cp", classes, main, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{main} of Flink {version} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.splitlines()


@cache
def missing(version: str) -> str | None:
    """Why the peer cannot run here, in a sentence; ``None`` when it can. Builds it the first time (some seconds)."""
    if version not in VERSIONS:
        return f"there is no peer for Flink {version!r}, only for {', '.join(VERSIONS)}"
    for tool in ("java", "mvn"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    return _build(version)


def _build(version: str) -> str | None:
    jar = PROJECT / "target" / version / "flink-peer.jar"
    sources = [PROJECT / "pom.xml", *(path for path in (PROJECT / "src").rglob("*.java"))]
    (PROJECT / "target").mkdir(exist_ok=True)
    with open(PROJECT / "target" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two test processes must not build at once
        if jar.exists() and jar.stat().st_mtime > max(path.stat().st_mtime for path in sources):
            return None
        command = ["mvn", "--quiet", "--batch-mode", f"--activate-profiles=flink-{version}", "package"]
        completed = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    if completed.returncode == 0:
        return None
    return f"Maven could not build it (is there a network?): {completed.stdout.strip()[-500:]}"


def _java(version: str, heap: str, stack: str, options: dict[str, Any]) -> list[str]:
    reason = missing(version)
    if reason:
        raise RuntimeError(f"the real Flink {version} cannot run here: {reason}")
    megabytes = int(stack[:-1]) * {"m": 1, "g": 1024}[stack[-1].lower()]
    properties = [f"-D{name}={value}" for name, value in options.items()]
    jar = PROJECT / "target" / version / "flink-peer.jar"
    return ["java", f"-Xmx{heap}", f"-Dstack={megabytes}", *properties, "-jar", str(jar)]


@contextmanager
def _spec_file(graph: Any) -> Iterator[str | None]:
    if graph is None or isinstance(graph, str | os.PathLike):
        yield graph and os.fspath(graph)
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(graph.to_json())
        file.flush()
        yield file.name


def _run(command: list[str], timeout: float) -> tuple[list[str], str]:
    """The lines it printed, and why there are no more."""
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
        tempfile.TemporaryFile("w+", encoding="utf-8") as out,
    ):
        process = subprocess.Popen(command, stdout=out, stderr=errors)
        try:
            process.wait(timeout)
            reason = f"the JVM ended with status {process.returncode}: {_tail(errors)}"
        except subprocess.TimeoutExpired:
            reason = f"not finished after {timeout:g} s"
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        return [line for line in out if line.endswith("\n")], reason


def _timing(version: str, line: dict[str, Any]) -> Timing:
    common = {name: line[name] for name in ("phase", "nodes", "edges")}
    if "died" in line:
        return Timing(version, **common, died=line["died"])
    walls, cpus = tuple(line["wall_ms"]), tuple(line["cpu_ms"])
    figures = {"wall_ms": statistics.median(walls), "cpu_ms": statistics.median(cpus), "walls": walls, "cpus": cpus}
    return Timing(version, **common, **figures, checksum=line["checksum"], heap_mb=line.get("heap_mb"))


def _feed(stdin: IO[str], specs: Iterable[str]) -> None:
    try:
        with stdin:
            stdin.writelines(spec.rstrip("\n") + "\n" for spec in specs)
    except BrokenPipeError:
        pass  # the JVM is gone; its status says why


def _tail(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip()[-500:]


if __name__ == "__main__":
    for result in results(sys.argv[1], sys.stdin):
        print(json.dumps(result, ensure_ascii=False, separators=(",", ":")))
