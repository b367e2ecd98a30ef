"""The classes of what is in state: what they were when it was written, and what they are now.

A pickle names a class and has an object's fields, and that is all. So a state file says of each class what fields it
had: whoever reads it can tell a class that has changed from one that has not, before any object comes back.

Classes are noted where objects are pickled, by the table in which pickle looks for what a class is reduced by. Cost:
one call per class, and nothing per object.
"""

from __future__ import annotations

import copyreg
import io
import pickle
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from operator import methodcaller
from typing import Any

from penstock.common.class_names import former

ClassForm = dict[str, Any]
"""``kind``: dataclass, namedtuple, enum, object, or other for one that sees to it itself; ``fields``: their names, in
order; ``members``: [name, value]."""

_PROTOCOL = 5
_REDUCE = methodcaller("__reduce_ex__", _PROTOCOL)
_PLAIN = (str, int, float, bool, type(None))
_FAILURES = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
_POSITIONAL = "_dataclass_setstate"
"""What Python gives a frozen dataclass with slots, and counts as none of its own."""


def name_of(cls: type) -> str:
    """A class's name in a header: its module, a colon, and its name there."""
    return f"{cls.__module__}:{cls.__qualname__}"


def form_of(cls: type) -> ClassForm:
    """What a class is. One that says itself how it comes back (``__setstate__``, ``__reduce__``) is ``other``."""
    if copyreg.dispatch_table.get(cls) is not None:
        return {"kind": "other"}
    if issubclass(cls, Enum):
        members = cls.__members__.items()
        return {"kind": "enum", "members": [[n, m.value] for n, m in members if isinstance(m.value, _PLAIN)]}
    if issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple):
        own = cls.__reduce_ex__ is not object.__reduce_ex__ or cls.__reduce__ is not object.__reduce__
        return {"kind": "other"} if own else {"kind": "namedtuple", "fields": list(cls._fields)}  # type: ignore[attr-defined]
    if _comes_back_by_itself(cls):
        return {"kind": "other"}
    return (
        {"kind": "dataclass", "fields": [each.name for each in fields(cls)]}
        if is_dataclass(cls)
        else {"kind": "object"}
    )


def _comes_back_by_itself(cls: type) -> bool:
    setstate = getattr(cls, "__setstate__", None)
    own = setstate is not None and getattr(setstate, "__name__", "") != _POSITIONAL
    return own or cls.__reduce_ex__ is not object.__reduce_ex__ or cls.__reduce__ is not object.__reduce__


def _is_described(cls: type) -> bool:
    top = cls.__module__.partition(".")[0]
    return top == "__main__" or (top != "penstock" and top not in sys.stdlib_module_names)


class Noted(dict[type, Any]):
    """The classes of what has been pickled with it: a table for picklers, and it notes what it is asked for.

    Attributes:
        forms: what they are, by name.
    """

    def __init__(self) -> None:
        self.forms: dict[str, ClassForm] = {}
        self._seen: set[type] = set()

    def __missing__(self, cls: type) -> Any:
        if issubclass(cls, type):  # a class itself, which is written by its name
            raise KeyError(cls)
        self[cls] = reduce = copyreg.dispatch_table.get(cls, _REDUCE)
        self.note(cls)
        return reduce

    def note(self, cls: type) -> None:
        """An object of a class is there. A class that nobody could find by its name is none that a pickle names."""
        if cls in self._seen:
            return
        self._seen.add(cls)
        if _is_described(cls) and find_class(cls.__module__, cls.__qualname__) is cls:
            self.forms[name_of(cls)] = form_of(cls)

    def dumps(self, value: Any, *, fast: bool = True) -> bytes:
        """Pickle a value.

        Args:
            value: it.
            fast: write each object as often as it occurs.
        """
        target = io.BytesIO()
        pickler = pickle.Pickler(target, _PROTOCOL)
        pickler.fast, pickler.dispatch_table = fast, self
        try:
            pickler.dump(value)
            return target.getvalue()
        except _FAILURES:
            return _by_name(value, self)


def _by_name(value: Any, noted: Noted) -> bytes:
    """The pickle of a value with something that pickle does not know: in a worker, the program's own classes, which
    are no module's there. They go by their name also, and not by what they are now."""
    import cloudpickle  # not needed by most jobs, and slow to import

    class ByName(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, type):
                module, name = obj.__module__, obj.__qualname__
                if _importable(module, name) is None and find_class(module, name) is obj:
                    return program_class, (module, name)
            else:
                noted.note(type(obj))
            return super().reducer_override(obj)

    target = io.BytesIO()
    ByName(target, _PROTOCOL).dump(value)
    return target.getvalue()


def program_class(module: str, name: str) -> type:
    """A class by the name that stands in a pickle; pickles of workers call this.

    Args:
        module: its module.
        name: its name in there.

    Raises:
        AttributeError: the program has no such class.
    """
    found = find_class(module, name)
    if found is None:
        raise AttributeError(f"the program has no class {module}.{name}")
    return found


def find_class(module: str, name: str) -> type | None:
    """A class by its name: that of a module, of the program itself, or one that was formerly called so."""
    found = _importable(module, name)
    if found is None:
        found = next(_travelled(module, name), None)
    if found is None:
        found = former(f"{module}.{name}")
    if found is None:
        found = next((cls for cls in _all_travelled() if f"{module}.{name}" in vars(cls).get("__formerly__", ())), None)
    return found


def _importable(module: str, name: str) -> type | None:
    try:
        found: Any = sys.modules.get(module) or import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except Exception:  # importing runs the module, which may do anything
        return None
    return found if isinstance(found, type) else None


def is_plain(module: str, name: str, cls: type) -> bool:
    """Whether pickle by itself finds just this class under a name."""
    return _importable(module, name) is cls


def _travelled(module: str, name: str) -> Iterator[type]:
    return (cls for cls in _all_travelled() if cls.__module__ == module and cls.__qualname__ == name)


def _all_travelled() -> Iterator[type]:
    """The classes of programs that have come to this worker by value, the newest first."""
    cloud = sys.modules.get("cloudpickle.cloudpickle")
    known = getattr(cloud, "_DYNAMIC_CLASS_TRACKER_BY_CLASS", None)
    return reversed(list(known)) if known is not None else iter(())
