"""Classes of objects in the golden state files, changed since these were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from penstock.common import formerly


class Colour(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


class Point(NamedTuple):
    y: int
    x: int
    z: int = 5


@dataclass
class Basket:
    notes: list[str] = field(default_factory=list)
    colour: Colour = Colour.RED
    things: int = 0


@formerly("tests.runtime.checkpoint.shop.Moved")
@dataclass(frozen=True)
class Arrived:
    place: Point
