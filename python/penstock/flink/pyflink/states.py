"""How the entries of a state of a PyFlink operator become values of its program.

In process mode values, lists, reductions and accumulators are lists of bytes, and each of these has one or several
values one after the other; a map is one of bytes. Their names begin with ``python-state-``. In thread mode they are
state of Java, in which reductions and accumulators are values. Source of the semantics: PyFlink's
``fn_execution.state_impl`` and ``fn_execution.embedded``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.common.functions.state_descriptor import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.typesystem.conversions import Convert
from penstock.flink.entries.scalars import Reader
from penstock.flink.entries.values import Pairs, TimeWindow, Ttl
from penstock.flink.pyflink.coders import Loads, coder_for
from penstock.flink.pyflink.java_forms import from_java

PREFIX = "python-state-"
"""The beginning of names of state in process mode."""
REDUCED = "_reduce_state"
"""The beginning of the name of the state of ``reduce``, ``sum`` and the like; each task adds a UUID of its own."""
MERGED_WINDOWS = "merging-window-set"
"""The windows that sessions have become, each with the one that its state is under."""

Decode = Callable[[Any], tuple[Any, Any]]
"""Makes of an entry's value the value of the program, and the time or times of its last access, None without a time to
live."""


_FIELDS: dict[type, tuple[str, ...]] = {
    ValueStateDescriptor: ("value_type_info",),
    ListStateDescriptor: ("elem_type_info",),
    MapStateDescriptor: ("key_type_info", "value_type_info"),
    ReducingStateDescriptor: ("type_info",),
    AggregatingStateDescriptor: ("state_type_info",),
}
"""The fields of descriptors that have types."""


def name_in_program(name: str) -> str:
    """The name that a state has in the program; of ``reduce`` and the like :data:`REDUCED`, without their UUID."""
    name = name.removeprefix(PREFIX)
    return REDUCED if name.startswith(REDUCED) else name


def kind_of(descriptor: StateDescriptor[Any]) -> str:
    """``value``, ``list``, ``map``, ``reducing`` or ``aggregating``."""
    return type(descriptor).__name__.removesuffix("StateDescriptor").lower()


def types_of(descriptor: StateDescriptor[Any]) -> list[TypeInformation[Any]]:
    """The declared type of values, elements or accumulators; of a map those of keys and values. Undeclared means
    pickled."""
    return [getattr(descriptor, field) or Types.PICKLED_BYTE_ARRAY() for field in _FIELDS[type(descriptor)]]


@dataclass(frozen=True)
class PythonState:
    """A state of a program, as a savepoint has it."""

    name: str  # of the program
    kind: str
    decode: Decode


def state_for(descriptor: StateDescriptor[Any], loads: Loads, *, process_mode: bool) -> PythonState:
    """How a state is read that a program describes.

    Args:
        descriptor: that of the program.
        loads: makes the objects of pickles.
        process_mode: whether the savepoint is of process mode; else it is of thread mode.

    Raises:
        UnsupportedError: a type is not one of ``Types``.
    """
    kind, types = kind_of(descriptor), types_of(descriptor)
    make = _process_decode if process_mode else _thread_decode
    return PythonState(descriptor.name, kind, make(kind, types, loads))


# --- process mode -----------------------------------------------------------------------------------------------------


def _process_decode(kind: str, types: list[TypeInformation[Any]], loads: Loads) -> Decode:
    if kind == "map":
        return _map_decode(*(_whole(coder_for(part, loads)) for part in types))
    read = coder_for(types[0], loads)
    return (lambda entry: _list(entry, read)) if kind == "list" else (lambda entry: _single(entry, read))


def _whole(read: Reader) -> Convert:
    """The reader of bytes that are one value."""

    def value_of(data: bytes) -> Any:
        value, at = read(data, 0)
        if at != len(data):
            raise ValueError(f"it has {len(data)} bytes, and its type takes {at}")
        return value

    return value_of


def _values(chunks: Iterable[Any], read: Reader) -> Iterator[tuple[Any, int | None]]:
    """The values of a list of bytes, each with its last access."""
    for chunk in chunks:
        last_access, data = (chunk.last_access, chunk.value) if isinstance(chunk, Ttl) else (None, chunk)
        at, end = 0, len(data)
        while at < end:
            value, at = read(data, at)
            yield value, last_access


def _list(chunks: list[Any], read: Reader) -> tuple[list[Any], list[int] | None]:
    return _apart(list(_values(chunks, read)))


def _apart(pairs: list[tuple[Any, int | None]]) -> tuple[list[Any], list[int] | None]:
    """Values, and the times of their last access, if these are known."""
    times = [time for _, time in pairs if time is not None]
    return [value for value, _ in pairs], times or None


def _single(chunks: list[Any], read: Reader) -> tuple[Any, int | None]:
    """One value. Windows that have merged leave several; PyFlink takes the first."""
    values = list(_values(chunks[:1], read))
    if len(values) != 1:
        raise ValueError(f"it has {len(values)} values of its type in place of one")
    return values[0]


def _map_decode(key: Convert, value: Convert) -> Decode:
    def decode(entry: dict[Any, Any] | Pairs) -> tuple[dict[Any, Any], dict[Any, int] | None]:
        values: dict[Any, Any] = {}
        times: dict[Any, int] = {}
        for one, other in entry.items() if isinstance(entry, dict) else entry:
            name, it = key(one), other
            if name in values:  # of arrays, which Java does not see to be the same
                raise ValueError(f"it has the key {name!r} of a map twice, as PyFlink leaves it in thread mode")
            if isinstance(other, Ttl):
                times[name], it = other.last_access, other.value
            values[name] = None if it is None else value(it)
        return values, times or None

    return decode


# --- thread mode ------------------------------------------------------------------------------------------------------


def _thread_decode(kind: str, types: list[TypeInformation[Any]], loads: Loads) -> Decode:
    converts = [from_java(part, loads, records_are_pickled=True) for part in types]
    if kind == "map":
        return _map_decode(*converts)
    (convert,) = converts

    def one(value: Any) -> tuple[Any, int | None]:
        return (convert(value.value), value.last_access) if isinstance(value, Ttl) else (convert(value), None)

    return (lambda entry: _apart(list(map(one, entry)))) if kind == "list" else one


# --- windows ----------------------------------------------------------------------------------------------------------


def merged_windows(loads: Loads, *, process_mode: bool) -> PythonState:
    """How the windows are read that sessions have become: bytes in process mode, else pickles."""
    convert = _whole(_time_window) if process_mode else loads
    return PythonState(MERGED_WINDOWS, "map", _map_decode(convert, convert))


_TWO_LONGS = struct.Struct(">qq")


def _time_window(data: bytes, at: int) -> tuple[TimeWindow, int]:
    return TimeWindow(*_TWO_LONGS.unpack_from(data, at)), at + _TWO_LONGS.size
