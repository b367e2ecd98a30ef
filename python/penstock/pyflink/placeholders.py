"""Stand-ins for what PyFlink has and Penstock does not: they can be imported, named in annotations and derived from; to
make, call or look into one raises :class:`~penstock.errors.UnsupportedError` with what there is instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from penstock.errors import MissingMethodError, UnsupportedError
from penstock.pyflink.advice import advice


class Placeholder(type):
    """The type of stand-ins for classes. Classes derived from one are stand-ins too."""

    pyflinks: str
    """The full name of PyFlink's class."""

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        """Refuse to make an instance."""
        raise UnsupportedError(_sentence(cls.pyflinks))

    def __getattr__(cls, name: str) -> NoReturn:
        """Refuse a class method or a constant; of private names nobody reads the message."""
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        raise MissingMethodError(_sentence(cls.pyflinks, f".{name}"), name=name)

    def __repr__(cls) -> str:
        return f"<placeholder for {cls.pyflinks}>"


HOME = "penstock.pyflink.missing"
"""Where stand-ins can be found again by their name, as pickle does."""


def a_class(module: str, name: str, home: str = HOME) -> type[Any]:
    """The stand-in for a class of PyFlink.

    Args:
        module: where PyFlink has it.
        name: of the class.
        home: the module of ours that has it.
    """
    return Placeholder(name, (), {"__module__": home, "pyflinks": f"{module}.{name}"})


def an_exception(module: str, name: str) -> type[Exception]:
    """The stand-in for an exception: nothing raises it, and ``except`` may name it."""
    return type(name, (Exception,), {"__module__": HOME, "pyflinks": f"{module}.{name}"})


def a_function(module: str, name: str) -> Callable[..., NoReturn]:
    """The stand-in for a function."""

    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise UnsupportedError(_sentence(f"{module}.{name}"))

    refuse.__module__, refuse.__name__, refuse.__qualname__ = HOME, name, name
    vars(refuse)["pyflinks"] = f"{module}.{name}"
    return refuse


def is_placeholder(value: object) -> bool:
    """Whether something stands in for what is not there."""
    return hasattr(value, "pyflinks")


def _sentence(name: str, member: str = "") -> str:
    return f"{name}{member} is PyFlink's, and Penstock has nothing for it yet. {advice(name)}."
