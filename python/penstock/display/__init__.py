"""How objects show themselves: the look that terminals and notebooks share. The drawings are beside the objects, in
:mod:`penstock.analysis`, :mod:`penstock.metrics` and :mod:`penstock.common`.

rich is imported when something is drawn, not before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.display.tables import Shown

T = TypeVar("T", bound=type)

ROWS = 50  # so many rows of a table are shown by default
PAGE = 1000  # characters of a line in a notebook, which scrolls


def drawn_by(function: Callable[[Any, Shown], RenderableType]) -> Callable[[T], T]:
    """Let the objects of a class draw themselves: in colours if rich prints them, as tables in a notebook. Works on
    native classes too, which know neither. The function should import rich only when it is called."""

    def draw(self: Any, **limits: Any) -> RenderableType:
        from penstock.display.tables import Shown

        return function(self, Shown(ROWS, **limits))

    def rich(self: Any) -> RenderableType:
        return draw(self)

    def html(self: Any) -> str:
        from penstock.display.html import html

        return html(draw(self, width=PAGE))

    def decorate(drawn: T) -> T:
        for name, method in {"__rich__": rich, "_repr_html_": html}.items():
            setattr(drawn, name, method)
        return drawn

    return decorate
