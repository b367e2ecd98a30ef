"""How objects show themselves: the look that terminals and notebooks share. What is shown of them stands in files
called ``drawing`` beside them, of :mod:`penstock.plan`, :mod:`penstock.metrics` and :mod:`penstock.common`.

rich is imported when something is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import RenderableType

T = TypeVar("T", bound=type)

ROWS = 50
"""So many rows of a table are shown where nobody asks for more."""
PAGE = 1000
"""Characters of a line in a notebook, which scrolls."""


def drawn_by(place: str) -> Callable[[T], T]:
    """Let the objects of a class draw themselves: in colours where rich prints them, as tables in a notebook. Works on
    native classes too, which know neither.

    Args:
        place: ``module:function``, loaded by name when something is drawn. The function takes the object and a
            :class:`penstock.display.tables.Shown`, and returns what rich prints.
    """
    module, _, function = place.partition(":")

    def draw(self: Any, **shown: Any) -> RenderableType:
        from penstock.display.tables import Shown

        return getattr(import_module(module), function)(self, Shown(ROWS, **shown))

    def rich(self: Any) -> RenderableType:
        return draw(self)

    def html(self: Any) -> str:
        from penstock.display.html import html

        return html(draw(self, width=PAGE))

    def give(drawn: T) -> T:
        for name, method in {"__rich__": rich, "_repr_html_": html}.items():
            setattr(drawn, name, method)
        return drawn

    return give
