"""What programs in tests begin and end with, and the processes that they need beside them."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import time
from typing import Any

from penstock.datastream import StreamExecutionEnvironment

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Spark compiles Java for each plan, a fifth of the time of a small job."""


def environment(parallelism: int = 1, executor: Any = "local") -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(parallelism)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens at, below those that the system gives to connections: a server that is
    away for a while finds its port free again."""
    ports: list[int] = []
    with contextlib.ExitStack() as closing:
        while len(ports) < count:
            port = random.SystemRandom().randrange(20_000, 32_000)
            with contextlib.suppress(OSError):
                closing.enter_context(socket.socket()).bind(("127.0.0.1", port))
                ports.append(port)
    return ports


def answers(process: subprocess.Popen[bytes], port: int, seconds: float) -> bool:
    """Wait until a process takes connections; False if it ends before, or is not ready in time."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        time.sleep(0.05)
    return False
