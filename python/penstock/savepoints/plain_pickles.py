"""Reads a pickle as data, by an interpreter of pickle's opcodes instead of Python's unpickler. Only the opcodes of
protocol 5 are known. A name leads only to :func:`~.plain_values.object_for_name`, a length is checked before anything
is allocated for it, an index of the memo must exist, and no attribute is ever set. So the result takes at most some
hundred bytes per byte of the pickle. Hashable values that contain each other many times are limited too, because
hashing a key visits all of it. Source: ``pickletools`` of Python. Ten times slower than Python."""

from __future__ import annotations

import pickle
import struct
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable
from operator import methodcaller
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

    def take(self, count: int) -> bytes:
        at, self.at = self.at, self.at + count
        if count < 0 or self.at > len(self.data):
            raise UnpicklingError(f"it says that it has {count} more bytes, and is {len(self.data)} bytes long")
        return self.data[at : self.at]

    def count(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def items(self) -> list[Any]:
        items, self.stack = self.stack, self.marks.pop()
        return items

    def push(self, value: Any) -> None:
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
        state, value = self.stack.pop(), self.stack.pop()
        set_state(value, state)
        self.bare.pop(id(value), None)
        self.push(value)

    def constant(self, value: Any) -> None:
        self.stack.append(value)

    def new(self, kind: Callable[[], Any]) -> None:
        self.stack.append(kind())

    def unsigned(self, width: int) -> None:
        self.stack.append(self.count(width))

    def signed(self) -> None:
        self.stack.append(int.from_bytes(self.take(4), "little", signed=True))

    def long(self, width: int) -> None:
        self.stack.append(int.from_bytes(self.take(self.count(width)), "little", signed=True))

    def double(self) -> None:
        self.stack.append(_DOUBLE.unpack(self.take(8))[0])

    def text(self, width: int) -> None:
        self.stack.append(str(self.take(self.count(width)), "utf-8", "surrogatepass"))

    def octets(self, width: int) -> None:
        self.stack.append(self.take(self.count(width)))

    def mutable_octets(self) -> None:
        self.stack.append(bytearray(self.take(self.count(8))))

    def frame(self) -> None:
        if self.count(8) > len(self.data) - self.at:
            raise UnpicklingError("it is cut off within a frame")

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def pop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.items()

    def collect(self, kind: Callable[[list[Any]], Any]) -> None:
        self.push(kind(self.items()))

    def short_tuple(self, length: int) -> None:
        self.push(tuple(reversed([self.stack.pop() for _ in range(length)])))

    def append(self) -> None:
        self.extend([self.stack.pop()])

    def extend(self, items: list[Any] | None = None) -> None:
        self.fill(self.items() if items is None else items, "appends to", list, deque)

    def set_item(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self.update([key, value])

    def update(self, items: list[Any] | None = None) -> None:
        items = self.items() if items is None else items
        self.fill(zip(items[::2], items[1::2], strict=True), "sets items of", dict, OrderedDict, Counter)

    def add_items(self) -> None:
        self.fill(self.items(), "adds items to", set)

    def fill(self, items: Iterable[Any], what: str, *kinds: type) -> None:
        """Put items into the object on top of the stack, which must be of one of these classes."""
        target = self.stack[-1]
        if type(target) in kinds:
            if isinstance(target, dict):
                for key, value in items:
                    target[key] = value
            else:
                (target.update if isinstance(target, set) else target.extend)(items)
        elif not isinstance(target, Unmade):
            raise UnpicklingError(f"it {what} a {type(target).__name__}")

    def memoize(self) -> None:
        self.memo.append(self.stack[-1])

    def get(self, width: int) -> None:
        value = self.memo[self.count(width)]
        self.classes += isinstance(value, Known)
        self.stack.append(value)

    def find(self) -> None:
        name, module = self.stack.pop(), self.stack.pop()
        if type(name) is not str or type(module) is not str:
            raise UnpicklingError("it has a name that is not a string")
        target = self.names.get((module, name))
        if target is None:
            target = self.names[module, name] = object_for_name(module, name)
        if isinstance(target, Known):
            self.classes += 1
        elif isinstance(target, Unmade):
            self.unmade[module, name] = target
        self.stack.append(target)

    def make_with_names(self) -> None:
        names, arguments, cls = self.stack.pop(), self.stack.pop(), self.stack[-1]
        if isinstance(cls, Known) and names:
            raise UnpicklingError(f"it makes a {cls.name} of named arguments")
        self.stack.append(arguments)
        self.make()


def _parts(value: Any) -> Any:
    return (value.value,) if type(value) is TimestampedValue else value


_STOP = pickle.STOP[0]
_ARGUMENTS: dict[Any, dict[bytes, Any]] = {  # the argument with which an opcode calls a method
    _Machine.take: {pickle.PROTO: 1},
    _Machine.constant: {pickle.NONE: None, pickle.NEWTRUE: True, pickle.NEWFALSE: False, pickle.EMPTY_TUPLE: ()},
    _Machine.unsigned: {pickle.BININT1: 1, pickle.BININT2: 2},
    _Machine.long: {pickle.LONG1: 1, pickle.LONG4: 4},
    _Machine.text: {pickle.SHORT_BINUNICODE: 1, pickle.BINUNICODE: 4, pickle.BINUNICODE8: 8},
    _Machine.octets: {pickle.SHORT_BINBYTES: 1, pickle.BINBYTES: 4, pickle.BINBYTES8: 8},
    _Machine.short_tuple: {pickle.TUPLE1: 1, pickle.TUPLE2: 2, pickle.TUPLE3: 3},
    _Machine.collect: {pickle.TUPLE: tuple, pickle.FROZENSET: frozenset},
    _Machine.new: {pickle.EMPTY_LIST: list, pickle.EMPTY_DICT: dict, pickle.EMPTY_SET: set},
    _Machine.get: {pickle.BINGET: 1, pickle.LONG_BINGET: 4},
}
_STEPS: dict[int, Callable[[_Machine], object]] = {  # all opcodes of protocol 5, except those that refer outside it
    pickle.FRAME[0]: _Machine.frame,
    pickle.MARK[0]: _Machine.mark,
    pickle.POP[0]: _Machine.pop,
    pickle.POP_MARK[0]: _Machine.items,
    pickle.BININT[0]: _Machine.signed,
    pickle.BINFLOAT[0]: _Machine.double,
    pickle.BYTEARRAY8[0]: _Machine.mutable_octets,
    pickle.APPEND[0]: _Machine.append,
    pickle.APPENDS[0]: _Machine.extend,
    pickle.SETITEM[0]: _Machine.set_item,
    pickle.SETITEMS[0]: _Machine.update,
    pickle.ADDITEMS[0]: _Machine.add_items,
    pickle.MEMOIZE[0]: _Machine.memoize,
    pickle.STACK_GLOBAL[0]: _Machine.find,
    pickle.REDUCE[0]: _Machine.make,
    pickle.NEWOBJ[0]: _Machine.make,
    pickle.NEWOBJ_EX[0]: _Machine.make_with_names,
    pickle.BUILD[0]: _Machine.build,
}
for _method, _opcodes in _ARGUMENTS.items():
    _STEPS.update((_opcode[0], methodcaller(_method.__name__, _value)) for _opcode, _value in _opcodes.items())
