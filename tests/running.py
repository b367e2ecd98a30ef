"""What programs in tests begin and end with, and the processes that they need beside them."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from typing import Any

from penstock.datastream import StreamExecutionEnvironment


def environment(parallelism: int = 1, executor: Any = "local") -> StreamExecutionEnvironment:
    return StreamExecutionEnvironment.get_execution_environment(executor=executor).set_parallelism(parallelism)


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens at."""
    with contextlib.ExitStack() as closing:
        sockets = [closing.enter_context(socket.socket()) for _ in range(count)]
        for bound in sockets:
            bound.bind(("127.0.0.1", 0))
        return [bound.getsockname()[1] for bound in sockets]


def answers(process: subprocess.Popen[bytes], port: int, seconds: float) -> bool:
    """Wait until a process takes connections; False if it ends before, or is not ready in time."""
    until = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
        time.sleep(0.05)
    return False
