"""What a process of :mod:`tests.datastream.pool` does: it runs scripts, several at a time, as it is asked to."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import queue
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

if __name__ == "__main__":  # a process of its own
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from penstock.local import LocalExecutor
from tests.datastream import feeding, random_fed, restoring
from tests.datastream.run_scripts import result_of
from tests.running import INTERPRETED

Result = dict[str, Any]


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def serve(requests: IO[str], answers: IO[str], chosen: argparse.Namespace, slots: int) -> None:
    """Be a worker: a line of result per line of request, in any order."""
    tasks, lock = queue.SimpleQueue[Any](), threading.Lock()
    make, alive = executors(chosen.spark, vars(chosen).get("server"))

    def answer(**message: Any) -> None:
        with lock:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

    def work() -> None:
        while True:
            message = tasks.get()
            number = message["number"]

            def rest(number: int = number) -> None:
                threading.Thread(target=work, daemon=True).start()
                answer(number=number)
                threading.Event().wait()

            result = outcome(message, make, chosen, rest)
            if not alive():
                os._exit(70)  # what this one has seen, and those beside it, is no result
            answer(number=number, result=result)

    for _ in range(slots):
        threading.Thread(target=work, daemon=True).start()
    for line in requests:
        tasks.put(json.loads(line))
    os._exit(0)


def outcome(
    message: dict[str, Any], make: Callable[[], Any], chosen: argparse.Namespace, rest: Callable[[], None]
) -> Result:
    """The result of a request. A defect of Penstock shows in its own line only."""
    try:
        return _outcome(json.loads(message["line"]), message["root"], message["life"], make(), chosen, rest)
    except Exception as defect:
        traceback.print_exc()
        return {"defect": repr(defect)}


def _outcome(
    record: Any, root: str, life: int, executor: Any, chosen: argparse.Namespace, rest: Callable[[], None]
) -> Result:
    script, seed = record.get("script", record), record.get("random")
    native = vars(chosen).get("native")
    if chosen.feed is None:
        return result_of(script, executor, settings=feeding.native_settings(native))
    steps = vars(chosen).get("restore")
    if steps is not None and seed is None:
        return restoring.restored_result(script, executor, root, chosen.feed, steps, chosen.rescale, native)
    interval = vars(chosen).get("interval")
    exact = chosen.spark or chosen.kill is not None
    with contextlib.ExitStack() as dying:
        if chosen.kill is not None and not life:
            dying.enter_context(feeding.killed(script.get("name", str(seed)), root, chosen, rest))
        if seed is not None:
            return random_fed.result_of_seed(seed, chosen.feed, root, executor, life, interval, native)
        return feeding.fed_result(
            script, executor, root, chosen.feed, exact=exact, life=life, interval=interval, native=native
        )


_UNTIL_THE_END = contextlib.ExitStack()
"""What stays open as long as this process."""


def executors(spark: bool, server: str | None = None) -> tuple[Callable[[], Any], Callable[[], bool]]:
    """What makes an executor for a script, Spark's, by a server of Spark Connect or not, or that of this process; and
    whether that can run any more."""
    if not spark:
        return LocalExecutor, lambda: True
    from penstock.spark import SparkExecutor
    from penstock.spark.session import open_session

    if server is not None:
        from tests.spark.connect_server import strict

        _UNTIL_THE_END.enter_context(strict())
        session = open_session(server, {})
        return lambda: SparkExecutor(session, progress=False), lambda: True
    session = open_session(f"local[{min(4, max(2, cores()))},4]", INTERPRETED)
    jvm = session.sparkContext._gateway.proc
    return lambda: SparkExecutor(session, progress=False), lambda: jvm.poll() is None


if __name__ == "__main__":
    from tests.datastream import workers  # what is sent to Spark's workers must not be of __main__

    options = argparse.Namespace(**json.loads(sys.argv[1]))
    answering = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print is no answer
    workers.serve(sys.stdin, answering, options, options.slots)
