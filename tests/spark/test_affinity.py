"""Workers pass the tasks of a partition to the one that has run it before. Here workers are processes without Spark,
whose tasks say who has run them."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common import Configuration, Types
from penstock.datastream import StreamExecutionEnvironment
from penstock.spark.affinity import FOLDER, Entries, Register, Worker, partition_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")
SECONDS = 60
LAST = 99  # a partition whose task ends its worker


NOBODY = 1 << 30  # as the number of a process
UNTIL_ALLOWED = -1  # instead of milliseconds


def take(connection: socket.socket) -> int:
    """Run a task: wait as long as it says, and answer with this process."""
    partition, millis, _ = struct.unpack(">iii", connection.recv(12, socket.MSG_WAITALL))
    if millis == UNTIL_ALLOWED:
        connection.recv(1)
    else:
        time.sleep(millis / 1000)
    connection.sendall(struct.pack(">i", os.getpid()))
    return int(partition == LAST)


class Daemon:
    """Forks workers, and is Spark's side of their connections."""

    worker = Worker

    def __init__(self) -> None:
        self.register = Register()
        self.connections: dict[int, socket.socket] = {}

    def fork(self) -> int:
        ours, theirs = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            try:
                for connection in (ours, *self.connections.values()):
                    connection.close()
                self.worker(self.register, theirs, take).serve()
            finally:
                os._exit(1)
        theirs.close()
        ours.settimeout(SECONDS)
        self.connections[pid] = ours
        until(lambda: str(pid) in self.entries().busy)
        return pid

    def entries(self) -> Entries:
        with self.register.entries() as entries:
            return entries

    def begin(self, origin: int, partition: int, millis: int = 0) -> None:
        self.connections[origin].sendall(struct.pack(">iii", partition, millis, 0))

    def end(self, origin: int) -> int:
        """Who has run the task."""
        (pid,) = struct.unpack(">i", self.connections[origin].recv(4, socket.MSG_WAITALL))
        until(lambda: str(origin) not in self.entries().works)
        return pid

    def run(self, origin: int, partition: int) -> int:
        self.begin(origin, partition)
        return self.end(origin)

    def ended(self, origin: int) -> bool:
        """Whether a connection is closed instead of an answer."""
        with contextlib.suppress(ConnectionResetError):
            return self.connections[origin].recv(4) == b""
        return True

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()
        for pid in self.connections:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def until(true) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.005)


def gone(pid: int) -> bool:
    with contextlib.suppress(ChildProcessError):
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    return True


@pytest.fixture
def daemon(monkeypatch, tmp_path) -> Iterator[Daemon]:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    daemon = Daemon()
    try:
        yield daemon
    finally:
        daemon.close()


def test_a_partition_comes_to_the_worker_that_has_run_it(daemon):
    first, second = daemon.fork(), daemon.fork()
    assert daemon.run(first, 0) == first
    assert daemon.run(second, 1) == second
    for zero, one in ((second, first), (second, first), (first, second), (second, first)):
        daemon.begin(zero, 0)
        daemon.begin(one, 1)
        assert (daemon.end(zero), daemon.end(one)) == (first, second)


def test_a_partition_whose_worker_is_busy_goes_to_a_free_one(daemon):
    first, second = daemon.fork(), daemon.fork()
    assert daemon.run(first, 0) == first
    daemon.begin(first, 5, millis=300)
    until(lambda: str(first) in daemon.entries().works)
    assert daemon.run(second, 0) == second
    assert daemon.end(first) == first
    assert daemon.run(first, 0) == second  # which has run it last


def test_no_task_waits_behind_another_while_a_worker_is_free(daemon):
    """Both connections are with one worker, whose task takes long."""
    first, second = daemon.fork(), daemon.fork()
    assert daemon.run(first, 0) == first
    assert daemon.run(second, 0) == first
    daemon.begin(second, 0, millis=60_000)
    until(lambda: daemon.entries().works.get(str(second)) == str(first))
    assert daemon.run(first, 1) == second


def test_who_works_for_a_connection_is_killed(daemon):
    first, second = daemon.fork(), daemon.fork()
    daemon.run(first, 0)
    daemon.begin(second, 0, millis=60_000)
    until(lambda: daemon.entries().works.get(str(second)) == str(first))
    until(lambda: daemon.entries().owners[str(first)] == str(second))
    daemon.register.kill(second)
    until(lambda: gone(first))
    assert daemon.ended(second)
    assert daemon.run(first, 0) == second  # the connection was passed on before


class Successor(Worker):
    """A worker with the number of one that was killed: numbers come back, after 32,768 processes in many places."""

    def __init__(self, register: Register, *arguments: Any) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as mailbox:
            mailbox.bind(register.mailbox(str(os.getpid())))
        super().__init__(register, *arguments)


def test_a_worker_may_have_the_number_of_one_that_was_killed(daemon):
    daemon.worker = Successor
    first, second = daemon.fork(), daemon.fork()
    assert daemon.run(first, 0) == first
    assert daemon.run(second, 0) == first


def test_a_connection_without_a_task_kills_nobody_and_runs_nothing(daemon):
    first, second = daemon.fork(), daemon.fork()
    daemon.run(first, 0)
    daemon.register.kill(second)
    daemon.begin(second, 0)
    assert daemon.ended(second)
    assert daemon.run(first, 0) == first


def test_workers_end_as_connections_are_closed(daemon):
    first, second, third = daemon.fork(), daemon.fork(), daemon.fork()
    daemon.run(first, 0)
    daemon.run(second, 0)  # which is with the first now, as is its own
    for origin in (second, first):
        daemon.connections.pop(origin).close()
        daemon.connections[-origin] = socket.socket()  # to be killed if need be
    until(lambda: len(daemon.entries().busy) == 1)
    until(lambda: sum(map(gone, (first, second, third))) == 2)
    last = next(int(worker) for worker in daemon.entries().busy)
    assert daemon.run(third, 0) == last
    daemon.connections[third].close()
    until(lambda: not daemon.entries().busy)
    until(lambda: gone(last))


def test_a_worker_that_fails_ends_when_spark_has_closed_its_connection(daemon):
    first = daemon.fork()
    daemon.begin(first, LAST)
    daemon.connections[first].recv(4, socket.MSG_WAITALL)
    assert not gone(first)
    daemon.connections[first].close()
    until(lambda: gone(first))
    assert not daemon.entries().busy


def test_many_tasks_on_many_workers(daemon):
    workers = [daemon.fork() for _ in range(4)]
    for turn in range(15):
        for number, origin in enumerate(workers):
            daemon.begin(origin, (number + turn) % 4)
        ran = [daemon.end(origin) for origin in workers]
        assert set(ran) <= set(workers)
    assert sorted(daemon.entries().busy) == sorted(map(str, workers))
    assert not any(daemon.entries().busy.values())


def test_a_connection_that_comes_as_a_worker_begins_a_task_does_not_wait_for_it(daemon):
    """It comes when the worker has seen its task and not yet taken it."""
    first, second = daemon.fork(), daemon.fork()
    ours, theirs = socket.socketpair()
    ours.settimeout(SECONDS)
    daemon.connections[NOBODY] = ours
    with daemon.register.entries() as entries:
        daemon.begin(second, 1, millis=60_000)
        time.sleep(0.2)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.connect(daemon.register.mailbox(str(second)))
            socket.send_fds(sender, [json.dumps([str(NOBODY), False]).encode()], [theirs.fileno()])
        entries.owners[str(NOBODY)] = str(second)
    assert daemon.run(NOBODY, 1) == first


def test_tasks_that_wait_for_each_other(daemon):
    """As those of one chain of operators do, when it needs two workers: the first waits for what the second gives."""
    connections = [daemon.fork() for _ in range(6)]
    chance = random.Random(7)
    for _ in range(20):
        chance.shuffle(connections)
        pairs = list(zip(connections[:3], connections[3:], strict=True))
        for number, (waiting, _) in enumerate(pairs):
            daemon.begin(waiting, number, UNTIL_ALLOWED)
        time.sleep(chance.random() * 0.003)
        for number, (_, other) in enumerate(pairs):
            daemon.begin(other, number)
        for waiting, other in chance.sample(pairs, 3):
            daemon.end(other)
            daemon.connections[waiting].send(b"!")
        for waiting, _ in pairs:
            daemon.end(waiting)


@pytest.mark.parametrize(
    ("head", "partition"),
    [((7, 0, 1), "7"), ((-8, 900, 3), "3"), ((0, 3, 0), "0")],
)
def test_where_a_task_names_its_partition(head, partition):
    assert partition_of(struct.pack(">iii", *head)) == partition


def test_a_short_beginning_names_none():
    assert partition_of(b"\0\0") == ""


def note(path: str, pair: tuple[int, int]) -> None:
    """Note in a file which process has which key."""
    with open(path, "a") as file:
        file.write(json.dumps([pair[0], os.getpid()]) + "\n")


@pytest.mark.spark
def test_a_subtask_stays_with_its_worker_between_steps(executor, tmp_path):
    settings = {"execution.checkpointing.dir": str(tmp_path / "job"), "penstock.step.records": "10"}
    seen_in = str(tmp_path / "seen")
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(settings), executor=executor)
    numbers = (
        env.set_parallelism(2).generate_sequence(0, 399).map(lambda n: (n % 8, 1), Types.TUPLE([Types.LONG()] * 2))
    )
    numbers.key_by(lambda pair: pair[0], Types.LONG()).sum(1).add_sink(lambda pair: note(seen_in, pair))
    env.execute("steps")
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert len(seen) == 400
    assert len({tuple(pair) for pair in seen}) == 8, "a key has been with one worker all the time"
