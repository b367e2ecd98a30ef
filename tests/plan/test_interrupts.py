"""Long calls of the planner leave other threads running and can be interrupted by Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pyarrow
import pytest

from penstock.plan import ExecutionGraph
from penstock.plan.shapes import all_to_all

ROOT = Path(__file__).resolve().parents[2]
WIDE = """
import signal

from penstock.plan.shapes import all_to_all

signal.signal(signal.SIGINT, signal.default_int_handler)  # the tests may run where interrupts are ignored
graph = all_to_all(30_000).job_graph().execution_graph()
print("ready", flush=True)
try:
    graph.sha256_of_edges()  # 21 GB to hash: minutes
except KeyboardInterrupt:
    print("interrupted", graph.total_edges, flush=True)
"""


def wide(parallelism: int) -> ExecutionGraph:
    return all_to_all(parallelism).job_graph().execution_graph()


def test_ctrl_c_ends_a_long_call_and_harms_nothing() -> None:
    with subprocess.Popen([sys.executable, "-c", WIDE], cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)  # into the call; if the signal came before it, the result would be the same
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert output == "interrupted 900000000\n"
    assert process.returncode == 0


def test_an_exception_of_a_signal_handler_reaches_the_caller() -> None:
    class Alarm(Exception):
        pass

    def ring(*_: object) -> None:
        raise Alarm

    graph = wide(30_000)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Alarm):
            graph.sha256_of_edges()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert graph.verify() == []


@pytest.mark.slow
def test_other_threads_run_meanwhile() -> None:
    graph = wide(4_000)
    ticks: list[int] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    other = threading.Thread(target=tick)
    other.start()
    graph.sha256_of_edges()
    done.set()
    other.join()
    assert len(ticks) > 20


@pytest.mark.slow
def test_a_chunk_that_was_interrupted_comes_again() -> None:
    def ring(*_: object) -> None:
        raise TimeoutError

    rows = 20_000_000
    chunks = wide(20_000).execution_edge_chunks(rows)
    before = signal.signal(signal.SIGALRM, ring)
    interrupted = False
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        next(chunks)
    except TimeoutError:
        interrupted = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    chunk = pyarrow.table(next(chunks))
    assert chunk["subtask"][0].as_py() == (0 if interrupted else rows // 20_000)
