"""Stand-ins for what PyFlink has and Penstock does not: they can be imported, annotated with and derived from; other
uses raise :class:`~penstock.errors.UnsupportedError` with advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from penstock.errors import MissingMethodError, UnsupportedError
from penstock.pyflink.advice import advice
from penstock.pyflink.names import Name

EXCEPTIONS = frozenset({"Exception", "JavaException", "TableException"})  # the bases of classes that are exceptions


class Placeholder(type):
    """The type of stand-ins for classes. Classes derived from one are stand-ins too."""

    pyflinks: str
    """The full name of PyFlink's class."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuse to make an instance."""
        raise UnsupportedError(_sentence(cls.pyflinks))

    def __getattr__(cls, name: str) -> NoReturn:
        """Refuse a class method or a constant; of private names the message is not read."""
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        raise MissingMethodError(_sentence(cls.pyflinks, f".{name}"), name=name)

    def __repr__(cls) -> str:
        return f"<placeholder for {cls.pyflinks}>"


def placeholder(name: Name) -> Any:
    """The stand-in for a class, an exception, which ``except`` may name and nothing raises, or a function."""
    members = {"__module__": f"penstock.{name.module}", "pyflinks": f"{name.module}.{name.path}"}
    if name.kind == "function":
        return _function(name.path, members)
    if name.parameters in EXCEPTIONS:
        return type(name.path, (Exception,), members)
    return Placeholder(name.path, (), members)


def _function(name: str, members: dict[str, str]) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(_sentence(members["pyflinks"]))

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, vars(refuse)["pyflinks"] = members["__module__"], members["pyflinks"]
    return refuse


def _sentence(name: str, member: str = "") -> str:
    return f"{name}{member} is PyFlink's, and Penstock has nothing for it yet. {advice(name)}."
