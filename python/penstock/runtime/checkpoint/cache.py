"""What a worker process keeps of the states that its tasks had, so that the next step need not read them again.

Any worker may run any subtask, so a state here may be some steps old: then the logs that it has missed are replayed. It
is right as long as the file that it was built from is in the subtask's chain. While a task has it, it is not here: what
becomes of it then, only a manifest decides.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from penstock.runtime.checkpoint.saving import Chain, load, repair
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState

MEMORY_PER_BYTE = 8
"""About how much memory state takes per byte of its files: small objects in dicts."""

_Name = tuple[str, str, int]


@dataclass
class Held:
    """State of an operator's subtask.

    Attributes:
        keyed: keyed state, or None.
        operator_state: the rest.
        file: name of the last file of the chain that it is at; "" for none.
        bytes: about how much memory it takes.
    """

    keyed: KeyedState | None
    operator_state: OperatorState = field(default_factory=OperatorState)
    file: str = ""
    bytes: int = 0


class StateCache:
    """States by job folder, operator and subtask; the least recently used go first.

    Args:
        limit: bytes of memory, by the size of files.

    Attributes:
        hits: states that were here as they are wanted.
        repairs: those that had missed logs.
        misses: those that were read from files.
        bytes: about how much memory is taken.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: OrderedDict[_Name, Held] = OrderedDict()
        self._lock = threading.Lock()
        self.hits = self.repairs = self.misses = self.bytes = 0

    def __len__(self) -> int:
        return len(self._held)

    def take(self, folder: str, chain: Chain, fresh: Held, about: AboutOperator) -> Held:
        """The state that a chain of files says, which the caller has for itself until :meth:`put`.

        Args:
            folder: where the files lie.
            chain: of the subtask.
            fresh: empty states, used if there are none here; their keyed state is tracked.
            about: whose state.

        Raises:
            StateError: a file is missing or damaged.
        """
        with self._lock:
            held = self._held.pop((folder, about.operator_id, about.subtask), None)
            self.bytes -= 0 if held is None else held.bytes
        last = chain[-1].name if chain else ""
        if held is None or not _fits(held, chain, about):
            self.misses += 1
            load(folder, [chain], fresh.keyed, fresh.operator_state, about)
            held = fresh
        elif held.file == last:
            self.hits += 1
        else:
            self.repairs += 1
            repair(folder, chain, held.keyed, held.operator_state, about, held.file)
        held.file = last
        return held

    def put(self, folder: str, chain: Chain, held: Held, about: AboutOperator) -> None:
        """Keep a state that is now at the end of a chain. Nobody may use it any more.

        Args:
            folder: where the files lie.
            chain: which :func:`~penstock.runtime.checkpoint.saving.save` has given.
            held: the state.
            about: whose state.
        """
        if held.keyed is not None:
            held.keyed.release()
        held.file = chain[-1].name if chain else ""
        held.bytes = sum(file.bytes for file in chain) * MEMORY_PER_BYTE
        name = folder, about.operator_id, about.subtask
        with self._lock:
            before = self._held.pop(name, None)
            self.bytes += held.bytes - (0 if before is None else before.bytes)
            self._held[name] = held
            while self.bytes > self._limit:
                _, oldest = self._held.popitem(last=False)
                self.bytes -= oldest.bytes


def _fits(held: Held, chain: Chain, about: AboutOperator) -> bool:
    if held.keyed is not None and held.keyed.max_parallelism != about.max_parallelism:
        return False
    return held.file in {file.name for file in chain} if chain else not held.file
