"""Memory and time of one piece of work in a process of its own; prints one line of JSON.

    python benches/peak.py plan SIZE INPUTS     layered DAG -> JobGraph -> ExecutionGraph
    python benches/peak.py walk PARALLELISM     an all-to-all exchange, edge by edge in chunks
    python benches/peak.py import MODULE        seconds of an import, and which modules it brought

The process starts small, so its peak is that of the work; ``base`` is what Python and the library take beforehand. All
sizes are bytes.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from typing import Any

CHUNK = 1 << 20


def peak() -> int:
    """The most memory this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def plan(size: int, inputs: int) -> dict[str, Any]:
    """Peaks after each step, and the seconds the steps took."""
    from penstock.plan import shapes

    facts: dict[str, Any] = {"base": peak()}
    started = time.perf_counter()
    graph = shapes.layered_dag(size, inputs=inputs)
    facts.update(graph=peak(), graph_seconds=time.perf_counter() - started)
    started = time.perf_counter()
    job = graph.job_graph()
    facts.update(job_graph=peak(), job_graph_seconds=time.perf_counter() - started)
    started = time.perf_counter()
    execution = job.execution_graph()
    facts.update(execution_graph=peak(), execution_graph_seconds=time.perf_counter() - started)
    return {**facts, "subtasks": execution.total_vertices}


def walk(parallelism: int) -> dict[str, Any]:
    """How much the peak grows over that of the first chunk, and the seconds of the whole walk."""
    from penstock.plan import shapes

    execution = shapes.all_to_all(parallelism).job_graph().execution_graph()
    for chunk in execution.execution_edge_chunks(CHUNK):
        rows = len(chunk)
        break
    base, rows, started = peak(), 0, time.perf_counter()
    for chunk in execution.execution_edge_chunks(CHUNK):
        rows += len(chunk)
    return {"rows": rows, "seconds": time.perf_counter() - started, "base": base, "grown": peak() - base}


def load(module: str) -> dict[str, Any]:
    """Seconds of ``import module``, and the large packages it brought along."""
    before = set(sys.modules)
    started = time.perf_counter()
    importlib.import_module(module)
    seconds = time.perf_counter() - started
    brought = sorted({name.partition(".")[0] for name in set(sys.modules) - before})
    return {"seconds": seconds, "modules": len(set(sys.modules) - before), "packages": brought}


def main(work: str, *arguments: str) -> None:
    """Do the work named on the command line."""
    if work == "import":
        facts = load(*arguments)
    else:
        facts = {"plan": plan, "walk": walk}[work](*map(int, arguments))
    print(json.dumps(facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
