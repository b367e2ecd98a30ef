"""How objects show themselves: the look that terminals and notebooks share. What is shown lives with the objects: the
graphs in :mod:`penstock.plan.drawing`, metrics in :mod:`penstock.metrics.drawing`.

rich is imported when something is drawn, not before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType

ROWS = 50
"""So many rows of a table are shown where nobody asks for more."""


class Displayed:
    """Base of what draws itself: in colours where rich prints it, as tables in a notebook."""

    def __rich__(self) -> RenderableType:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from penstock.display.html import html

        return html(self.__rich__())
