"""Brings the task of a partition to the worker that has run that partition before, which has its state. Spark gives a
task to the worker that has waited longest, so without this a subtask finds another's state in every second step.

Workers of a daemon pass connections to each other: where the task that comes on one belongs elsewhere, the connection
goes to the worker that has run the partition, if that is free. A register, a small file under a lock, says who is free.
There are as many workers as connections, and who begins to work passes on the others that it has, so no task waits
behind another while a worker is free. Spark knows a connection by the process that was forked for it, its *origin*;
when Spark wants that killed, the daemon kills whoever works for the connection.

Nothing depends on it: state in a worker counts by what the checkpoint says. Cost: two locks per task."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import gc
import json
import os
import select
import shutil
import signal
import socket
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import NoReturn

Run = Callable[[socket.socket], int]

_HEAD = struct.Struct(">iii")
_MESSAGE = 1 << 10  # bytes of a message between workers, at most
FOLDER = "PYTHON_WORKER_FACTORY_SOCK_DIR"  # the environment's name of Spark's folder for sockets


@dataclass
class Entries:
    """The lines of the register. Processes are numbers as texts."""

    busy: dict[str, bool] = field(default_factory=dict)
    """Of each worker, whether it works, or is about to."""
    owners: dict[str, str] = field(default_factory=dict)
    """By origin of a connection, the worker that has it."""
    works: dict[str, str] = field(default_factory=dict)
    """By origin of a connection with a task, the worker that runs it."""
    homes: dict[str, str] = field(default_factory=dict)
    """By partition, the worker that has run it last."""
    killed: list[str] = field(default_factory=list)
    """Origins that Spark wanted killed while they had no task."""

    def free(self) -> list[str]:
        """The workers that wait."""
        return [worker for worker, busy in self.busy.items() if not busy]

    def forget(self, worker: str) -> None:
        """A worker has ended, and its connections with it."""
        self.busy.pop(worker, None)
        for names in (self.owners, self.works, self.homes):
            for name in [name for name, owner in names.items() if owner == worker]:
                del names[name]

    def candidates(self, partition: str, asking: str) -> list[str]:
        """The free workers for a partition: first that which had it, then the one that asks."""
        home = self.homes.get(partition)
        return sorted(self.free(), key=lambda worker: (worker != home, worker != asking))

    def least_loaded(self) -> list[str]:
        """The free workers, those with the fewest connections first."""
        counts = Counter(self.owners.values())
        return sorted(self.free(), key=lambda worker: counts[worker])


class Register:
    """The file of the entries, in a folder that is removed when the daemon ends."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="penstock-", dir=os.environ.get(FOLDER))
        self._lock, self._file = os.path.join(self.folder, "lock"), os.path.join(self.folder, "entries")
        with open(self._lock, "wb"), open(self._file, "w") as file:
            json.dump(asdict(Entries()), file)
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)

    def mailbox(self, worker: str) -> str:
        """The path of the socket at which a worker gets connections."""
        return os.path.join(self.folder, worker)

    @contextlib.contextmanager
    def entries(self) -> Iterator[Entries]:
        """The entries, to be changed within the block by this process alone. They are replaced as a whole: a process
        that is killed meanwhile changes nothing."""
        with open(self._lock, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open(self._file) as file:
                entries = Entries(**json.load(file))
            yield entries
            with open(f"{self._file}.new", "w") as file:
                json.dump(asdict(entries), file)
            os.replace(f"{self._file}.new", self._file)

    def kill(self, origin: int) -> None:
        """Kill who works for a connection. Where nobody does, it is only marked: Spark closes it."""
        with self.entries() as entries:
            worker = entries.works.get(str(origin))
            if worker is None:
                entries.killed.append(str(origin))
                return
            entries.forget(worker)
            with contextlib.suppress(OSError):
                os.kill(int(worker), signal.SIGKILL)


def partition_of(head: bytes) -> str:
    """The partition that the beginning of a task names: its first number, or, as of Spark 4.3, the third, behind the
    negative number of a kind of message and a length."""
    if len(head) < _HEAD.size:
        return ""
    first, _, third = _HEAD.unpack(head)
    return str(third if first < 0 else first)


class Worker:
    """A worker: ``run`` does a task that comes on a connection, and returns what is not 0 if the process is to end."""

    def __init__(self, register: Register, connection: socket.socket, run: Run) -> None:
        for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGCHLD):  # the daemon has its own ways with these
            signal.signal(number, signal.SIG_DFL)
        self._register, self._run, self._name = register, run, str(os.getpid())
        self._connections = {self._name: connection}  # by origin
        self._mailbox = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._mailbox.setblocking(False)  # a flag would do, but recv_fds ignores it
        with contextlib.suppress(FileNotFoundError):
            os.unlink(register.mailbox(self._name))  # of another process with that number, which was killed
        self._mailbox.bind(register.mailbox(self._name))
        with register.entries() as entries:
            entries.forget(self._name)
            entries.killed = [origin for origin in entries.killed if origin != self._name]
            entries.busy[self._name], entries.owners[self._name] = False, self._name

    def serve(self) -> NoReturn:
        """Work until Spark closes the connections."""
        while True:
            origin = self._next()
            if origin is None:
                continue
            connection = self._connections[origin]
            if self._run(connection):
                with contextlib.suppress(OSError):
                    while connection.recv(1024):
                        pass
                self._end()
            with self._register.entries() as entries:
                entries.busy[self._name] = False
                entries.works.pop(origin, None)
            gc.collect()

    def _end(self) -> NoReturn:
        with self._register.entries() as entries:
            entries.forget(self._name)
        os._exit(0)

    def _next(self) -> str | None:
        """Wait for something to happen; the origin of the connection whose task this worker is to run, if any."""
        waiting = {connection.fileno(): origin for origin, connection in self._connections.items()}
        poller = select.poll()
        for number in (self._mailbox.fileno(), *waiting):
            poller.register(number, select.POLLIN)
        ready = [number for number, _ in poller.poll()]
        heads = {waiting[number]: self._head(waiting[number]) for number in ready if number in waiting}
        with self._register.entries() as entries:
            # Nothing comes while the register is locked. A connection left in the mailbox would wait for this
            # worker's task, and the task perhaps for the connection: tasks of one chain of operators need each other.
            over, mine = self._receive(entries)
            if not over:
                entries.busy.setdefault(self._name, False)  # it was taken for dead
                entries.owners.update(dict.fromkeys(self._connections, self._name))
                for origin, head in heads.items():
                    if not head or origin in entries.killed:
                        self._drop(entries, origin)
                    elif self._place(entries, origin, partition_of(head)):
                        mine = origin
                if mine is not None:
                    self._pass_others(entries, mine)
                over = mine is None and self._leave(entries)
        if over:
            os._exit(0)
        return mine

    def _head(self, origin: str) -> bytes:
        """The beginning of a task, which is left where it is; nothing if Spark has closed the connection."""
        with contextlib.suppress(OSError):
            return self._connections[origin].recv(_HEAD.size, socket.MSG_PEEK)
        return b""

    def _place(self, entries: Entries, origin: str, partition: str) -> bool:
        """Find the worker for a task; whether it is this one. It stays here while none is free."""
        for worker in entries.candidates(partition, self._name):
            if worker == self._name or self._send(entries, origin, worker, task=True):
                entries.busy[worker], entries.works[origin] = True, worker
                entries.homes[partition] = worker
                return worker == self._name
        return False

    def _pass_others(self, entries: Entries, origin: str) -> None:
        """This worker is about to run a task: others see to its other connections."""
        for other in [other for other in self._connections if other != origin]:
            any(self._send(entries, other, worker, task=False) for worker in entries.least_loaded())

    def _send(self, entries: Entries, origin: str, worker: str, *, task: bool) -> bool:
        """Pass a connection on; whether that worker is there, and has room for it."""
        message, connection = json.dumps([origin, task]).encode(), self._connections[origin]
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.connect(self._register.mailbox(worker))
                socket.send_fds(sender, [message], [connection.fileno()])
        except (ConnectionRefusedError, FileNotFoundError):
            entries.forget(worker)
            return False
        except OSError:
            return False
        entries.owners[origin] = worker
        self._connections.pop(origin).close()
        return True

    def _receive(self, entries: Entries) -> tuple[bool, str | None]:
        """Take the connections that other workers have passed on. Whether this worker is to end, and the origin of
        that whose task it is to run, if there is one."""
        mine: str | None = None
        with contextlib.suppress(BlockingIOError):
            while True:
                message, numbers, _, _ = socket.recv_fds(self._mailbox, _MESSAGE, 1)
                if not message:
                    return True, None
                origin, task = json.loads(message)
                self._connections[origin] = socket.socket(fileno=numbers[0])
                mine = origin if task else mine
        return False, mine

    def _drop(self, entries: Entries, origin: str) -> None:
        self._connections.pop(origin).close()
        entries.owners.pop(origin, None)
        entries.killed = [killed for killed in entries.killed if killed != origin]

    def _leave(self, entries: Entries) -> bool:
        """There are to be as many workers as connections: one without a connection ends for each that was closed.
        Returns whether this one does."""
        for worker in [worker for worker in entries.busy if not _lives(worker)]:
            entries.forget(worker)
        idle = [worker for worker in entries.free() if worker not in entries.owners.values()]
        idle = idle[: max(0, len(entries.busy) - len(entries.owners))]
        for worker in idle:
            entries.forget(worker)
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
                sender.setblocking(False)
                sender.sendto(b"", self._register.mailbox(worker))
        return self._name in idle


def _lives(worker: str) -> bool:
    try:
        os.kill(int(worker), 0)
    except OSError:
        return False
    return True
