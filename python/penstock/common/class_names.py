"""Names that classes had before: state that was written under one of them is read as the class of today."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.common import checks

C = TypeVar("C", bound=type)

_FORMER: dict[str, type] = {}


def formerly(*names: str) -> Callable[[C], C]:
    """Decorator for a renamed or moved class: objects in state written under an old name come back as objects of it.

    Args:
        names: with their modules, such as ``shop.model.Basket``; ``__main__.Basket`` for one of the program itself.
    """
    for name in names:
        if "." not in checks.text(name, "formerly", "name").strip("."):
            checks.refuse(
                f"formerly() was given {name!r}, which has no module. Give the whole name, such as 'shop.model.Basket'."
            )
    if not names:
        checks.refuse("formerly() was given no name. Give the one that the class had, such as 'shop.model.Basket'.")

    def named(cls: C) -> C:
        if not isinstance(cls, type):  # pyright: ignore[reportUnnecessaryIsInstance]
            checks.refuse(f"formerly() stands above {cls!r}, which is not a class. Put it above the class.")
        cls.__formerly__ = names  # type: ignore[attr-defined]
        _FORMER.update(dict.fromkeys(names, cls))
        return cls

    return named


def former(name: str) -> type | None:
    """The class of today for a former name with its module."""
    return _FORMER.get(name)
