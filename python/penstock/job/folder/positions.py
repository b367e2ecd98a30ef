"""How a source is read, as its positions tell, and whether another source can continue with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.job.folder.manifest import SourceState
from penstock.runtime.operators.source_reader import OWN

PUSHED, COUNTED, SPLIT = "pushed", "counted", "split"
"""By a function that pushes, whose calls are counted; by its records, which are counted; by splits."""


def pushed(name: str, position: Any) -> bool:
    """Whether a position is that of a function (calls, and rounds); those of splits have other names."""
    return name.startswith(f"{OWN}-") and isinstance(position, list | tuple) and isinstance(position[1], list)


def all_pushed(positions: Mapping[str, Any]) -> bool:
    """Whether positions are those of a function; there are some."""
    return bool(positions) and all(pushed(name, at) for name, at in positions.items())


def read_as(source: SourceState) -> str:
    """How a source is read: ``pushed``, ``counted`` or ``split``; "" if it has not been read."""
    positions = source.positions
    if not (positions or source.ended.count):
        return ""
    if all_pushed(positions):
        return PUSHED
    counts = positions and not source.ended.count and all(name.startswith(f"{OWN}-") for name in positions)
    return COUNTED if counts else SPLIT


def goes_on(read: str, kind: str | None) -> bool:
    """Whether a source of a class (``kind``; "": a function that pushes) can continue where another was."""
    if not read or kind is None:
        return True
    if read == PUSHED:
        return not kind
    return kind == "FrameSource" or (kind not in ("", "SplitSource") if read == COUNTED else kind == "SplitSource")
