"""What there is on Spark's workers: asked once per Spark, by a job of a few tasks that need nothing of Penstock.

Functions that run there are made inside others: so they are pickled whole, not by the name of a missing module.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

TASKS = 8
"""Of the job that asks, where nobody says how many tasks there can be at a time."""

MOST_TASKS = 64


@dataclass(frozen=True)
class Worker:
    """A Python of Spark's workers."""

    host: str
    platform: str  # operating system and processor, which native code is made for
    python: str
    executable: str
    sources: str | None  # what the Python files of its Penstock are; None without one
    cloudpickle: bool


def sources_of() -> Callable[[str], str]:
    """A function that hashes the Python files in a folder and below."""

    def sources(folder: str) -> str:
        import hashlib
        import os

        digest = hashlib.sha256()
        paths = (os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(".py"))
        for path in sorted(paths):
            name = os.path.relpath(path, folder)
            with open(path, "rb") as file:
                digest.update(f"{name}\0".encode() + file.read() + b"\0")
        return digest.hexdigest()

    return sources


def asked() -> Callable[[], dict[str, Any]]:
    """A function that says what the Python it runs in is, and has: the attributes of :class:`Worker`."""
    sources = sources_of()

    def answer() -> dict[str, Any]:
        import importlib.util
        import os
        import platform
        import socket
        import sys

        spec = importlib.util.find_spec("penstock")
        origin = None if spec is None else spec.origin
        return {
            "host": socket.gethostname(),
            "platform": f"{sys.platform} {platform.machine()}",
            "python": platform.python_version(),
            "executable": sys.executable,
            "sources": sources(os.path.dirname(origin)) if origin and os.path.exists(origin) else None,
            "cloudpickle": importlib.util.find_spec("cloudpickle") is not None,
        }

    return answer


def this_one() -> Worker:
    """The Python of this process."""
    return Worker(**asked()())


def workers_of(session: Any, tasks: int) -> frozenset[Worker]:
    """The different Pythons that tasks of a session meet. A job of one stage."""
    from penstock.spark.inside_pyspark import without_pandas

    answer = asked()

    def what_workers_have(batches: Iterable[Any]) -> Iterator[Any]:
        import json

        import pyarrow

        for _ in batches:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([json.dumps(answer())])], names=["found"])

    number = max(2, min(tasks, MOST_TASKS))
    frame = session.range(0, number, 1, number)
    with without_pandas():
        frame = frame.mapInArrow(what_workers_have, "found string")
    return frozenset(Worker(**json.loads(text)) for text in set(frame.toArrow().column("found").to_pylist()))
