"""Reads a pickle as data, by an interpreter of pickle's opcodes instead of Python's unpickler.

Only the opcodes of protocol 5 are known. A name leads only to :func:`~.plain_values.object_for_name`, a length is
checked before anything is allocated for it, an index of the memo must exist, and no attribute is ever set. So the
result takes at most some hundred bytes per byte of the pickle. Hashable values that contain each other many times are
limited too, because hashing a key visits all of it. Source: ``pickletools`` of Python. Ten times slower than Python.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from penstock.common.row import Row
from penstock.runtime.windows.evictors import TimestampedValue
from penstock.savepoints.plain_values import Known, Unmade, make_object, object_for_name, set_state

_DEEPEST = 100  # depth of nested tuples. Hashing them is recursive in C, without any other limit.
_LEAST = 1 << 16
_SPREAD = 64  # most parts of hashable values per byte of the pickle, counting repeated parts each time
_SIZED = (list, tuple, set, frozenset, dict, str, bytes, bytearray, Row)
_HASHED = (tuple, frozenset, Row, TimestampedValue)
_DOUBLE = struct.Struct(">d")
_MAPS = (dict, OrderedDict, Counter)

Step = Callable[["_Machine"], object]


def loads(data: bytes, unmade: dict[tuple[str, str], Unmade]) -> Any:
    """Unpickle a value, with :class:`~.plain_values.Unmade` objects in it where it is not plain."""
    return _Machine(data, unmade).run()


class _Machine:
    def __init__(self, data: bytes, unmade: dict[tuple[str, str], Unmade]) -> None:
        self.data, self.at, self.unmade = data, 0, unmade
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: list[Any] = []
        self.spread = _LEAST + _SPREAD * len(data)
        self.nested: dict[int, tuple[int, int, Any]] = {}
        self.names: dict[tuple[str, str], Any] = {}
        self.bare: dict[int, Any] = {}  # objects that still need their state
        self.copies = _LEAST + len(data)
        self.classes = 0  # number of classes that no opcode has called yet

    def run(self) -> Any:
        data, steps = self.data, _STEPS
        try:
            while True:
                opcode = data[self.at]
                self.at += 1
                if opcode == _STOP:
                    return self._ended()
                step = steps.get(opcode)
                if step is None:
                    raise UnpicklingError(f"it has the opcode {opcode:#x}, which Penstock never writes")
                step(self)
        except IndexError as error:
            raise UnpicklingError("it is cut off, or refers to what is not in it") from error
        except (AttributeError, RecursionError, TypeError, ValueError) as error:
            raise UnpicklingError(f"it is damaged: {error}") from error

    def _ended(self) -> Any:
        (result,) = self.stack
        if self.marks or self.bare:
            raise UnpicklingError("it ends within a value")
        if self.classes:  # a class is part of the value, so the value is not plain
            self.unmade.update((key, known) for key, known in self.names.items() if isinstance(known, Known))
        return result

    # --- operations for the opcodes ---

    def take(self, count: int) -> bytes:
        at, self.at = self.at, self.at + count
        if count < 0 or self.at > len(self.data):
            raise UnpicklingError(f"it says that it has {count} more bytes, and is {len(self.data)} bytes long")
        return self.data[at : self.at]

    def count(self, width: int) -> int:
        """A length or an index."""
        return int.from_bytes(self.take(width), "little")

    def items(self) -> list[Any]:
        """The items on the stack since the last mark."""
        items, self.stack = self.stack, self.marks.pop()
        return items

    def push(self, value: Any) -> None:
        """Push a new value. The parts of a hashable value are counted."""
        if type(value) in _HASHED:
            self._note(value)
        self.stack.append(value)

    def _note(self, value: Any) -> None:
        depth, size = 1, 0
        for part in _parts(value):
            size += 1
            if type(part) in _HASHED:
                deeper, more, _ = self.nested.get(id(part)) or (1, len(_parts(part)), None)
                depth, size = max(depth, deeper + 1), size + more
        if depth > _DEEPEST or size > self.spread:
            raise UnpicklingError("it has tuples within tuples, deeper or more often than a program's")
        if depth > 1:
            self.nested[id(value)] = depth, size, value  # keep the value alive, so that its id stays unique

    def make(self) -> None:
        """Create an object from a class and its arguments."""
        arguments, cls = self.stack.pop(), self.stack.pop()
        self.classes -= isinstance(cls, Known)
        for argument in arguments if type(arguments) is tuple else ():
            self.copies -= len(argument) if isinstance(argument, _SIZED) else 0
        if self.copies < 0:
            raise UnpicklingError("it has objects that are made of the same values again and again")
        result = make_object(cls, arguments)
        if isinstance(cls, Known) and cls.bare:
            self.bare[id(result)] = result
            self.stack.append(result)
        else:
            self.push(result)

    def build(self) -> None:
        """Set the state of a new object."""
        state, value = self.stack.pop(), self.stack.pop()
        set_state(value, state)
        self.bare.pop(id(value), None)
        self.push(value)


def _parts(value: Any) -> Any:
    return (value.value,) if type(value) is TimestampedValue else value


def _constant(value: Any) -> Step:
    return lambda machine: machine.stack.append(value)


def _new(kind: Callable[[], Any]) -> Step:
    return lambda machine: machine.stack.append(kind())


def _integer(width: int) -> Step:
    return lambda machine: machine.stack.append(machine.count(width))


def _signed(machine: _Machine) -> None:
    machine.stack.append(int.from_bytes(machine.take(4), "little", signed=True))


def _long(width: int) -> Step:
    return lambda machine: machine.stack.append(
        int.from_bytes(machine.take(machine.count(width)), "little", signed=True)
    )


def _double(machine: _Machine) -> None:
    machine.stack.append(_DOUBLE.unpack(machine.take(8))[0])


def _text(width: int) -> Step:
    return lambda machine: machine.stack.append(str(machine.take(machine.count(width)), "utf-8", "surrogatepass"))


def _bytes(width: int, kind: type[bytes] | type[bytearray] = bytes) -> Step:
    return lambda machine: machine.stack.append(kind(machine.take(machine.count(width))))


def _skip(width: int) -> Step:
    """Skip the number of the protocol."""
    return lambda machine: machine.take(width)


def _frame(machine: _Machine) -> None:
    if machine.count(8) > len(machine.data) - machine.at:
        raise UnpicklingError("it is cut off within a frame")


def _mark(machine: _Machine) -> None:
    machine.marks.append(machine.stack)
    machine.stack = []


def _pop(machine: _Machine) -> None:
    if machine.stack:
        machine.stack.pop()
    else:
        machine.items()


def _tuple(machine: _Machine) -> None:
    items = machine.items()
    machine.push(tuple(items))


def _short_tuple(length: int) -> Step:
    def step(machine: _Machine) -> None:
        items = [machine.stack.pop() for _ in range(length)]
        machine.push(tuple(reversed(items)))

    return step


def _frozenset(machine: _Machine) -> None:
    items = machine.items()
    machine.push(frozenset(items))


def _append(machine: _Machine) -> None:
    _extend(machine, [machine.stack.pop()])


def _appends(machine: _Machine) -> None:
    _extend(machine, machine.items())


def _extend(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) is list or type(target) is deque:
        target.extend(items)
    elif not isinstance(target, Unmade):
        raise UnpicklingError(f"it appends to a {type(target).__name__}")


def _set_item(machine: _Machine) -> None:
    value, key = machine.stack.pop(), machine.stack.pop()
    _update(machine, [key, value])


def _set_items(machine: _Machine) -> None:
    _update(machine, machine.items())


def _update(machine: _Machine, items: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) in _MAPS:
        for key, value in zip(items[::2], items[1::2], strict=True):
            target[key] = value
    elif not isinstance(target, Unmade):
        raise UnpicklingError(f"it sets items of a {type(target).__name__}")


def _add_items(machine: _Machine) -> None:
    items, target = machine.items(), machine.stack[-1]
    if type(target) is set:
        target.update(items)
    elif not isinstance(target, Unmade):
        raise UnpicklingError(f"it adds items to a {type(target).__name__}")


def _memoize(machine: _Machine) -> None:
    machine.memo.append(machine.stack[-1])


def _get(width: int) -> Step:
    def step(machine: _Machine) -> None:
        value = machine.memo[machine.count(width)]
        machine.classes += isinstance(value, Known)
        machine.stack.append(value)

    return step


def _global(machine: _Machine) -> None:
    name, module = machine.stack.pop(), machine.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise UnpicklingError("it has a name that is not a string")
    target = machine.names.get((module, name))
    if target is None:
        target = machine.names[module, name] = object_for_name(module, name)
    if isinstance(target, Known):
        machine.classes += 1
    elif isinstance(target, Unmade):
        machine.unmade[module, name] = target
    machine.stack.append(target)


def _new_with_names(machine: _Machine) -> None:
    names, arguments, cls = machine.stack.pop(), machine.stack.pop(), machine.stack[-1]
    if isinstance(cls, Known) and names:
        raise UnpicklingError(f"it makes a {cls.name} of named arguments")
    machine.stack.append(arguments)
    machine.make()


_STOP = b"."[0]
_STEPS: dict[int, Step] = {  # all opcodes of protocol 5, except those that refer outside the pickle
    opcode[0]: step
    for opcode, step in {
        b"\x80": _skip(1),  # PROTO
        b"\x95": _frame,  # FRAME
        b"(": _mark,  # MARK
        b"0": _pop,  # POP
        b"1": lambda machine: machine.items(),  # POP_MARK
        b"N": _constant(None),  # NONE
        b"\x88": _constant(True),  # NEWTRUE
        b"\x89": _constant(False),  # NEWFALSE
        b"K": _integer(1),  # BININT1
        b"M": _integer(2),  # BININT2
        b"J": _signed,  # BININT
        b"\x8a": _long(1),  # LONG1
        b"\x8b": _long(4),  # LONG4
        b"G": _double,  # BINFLOAT
        b"\x8c": _text(1),  # SHORT_BINUNICODE
        b"X": _text(4),  # BINUNICODE
        b"\x8d": _text(8),  # BINUNICODE8
        b"C": _bytes(1),  # SHORT_BINBYTES
        b"B": _bytes(4),  # BINBYTES
        b"\x8e": _bytes(8),  # BINBYTES8
        b"\x96": _bytes(8, bytearray),  # BYTEARRAY8
        b")": _constant(()),  # EMPTY_TUPLE
        b"t": _tuple,  # TUPLE
        b"\x85": _short_tuple(1),  # TUPLE1
        b"\x86": _short_tuple(2),  # TUPLE2
        b"\x87": _short_tuple(3),  # TUPLE3
        b"]": _new(list),  # EMPTY_LIST
        b"a": _append,  # APPEND
        b"e": _appends,  # APPENDS
        b"}": _new(dict),  # EMPTY_DICT
        b"s": _set_item,  # SETITEM
        b"u": _set_items,  # SETITEMS
        b"\x8f": _new(set),  # EMPTY_SET
        b"\x90": _add_items,  # ADDITEMS
        b"\x91": _frozenset,  # FROZENSET
        b"\x94": _memoize,  # MEMOIZE
        b"h": _get(1),  # BINGET
        b"j": _get(4),  # LONG_BINGET
        b"\x93": _global,  # STACK_GLOBAL
        b"R": _Machine.make,  # REDUCE
        b"\x81": _Machine.make,  # NEWOBJ
        b"\x92": _new_with_names,  # NEWOBJ_EX
        b"b": _Machine.build,  # BUILD
    }.items()
}
