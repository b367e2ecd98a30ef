"""The rooms of the house: each imports only those below it, and no two modules each other."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house.imports import ROOT, imports

ROOMS = {
    "runtime": [
        "aggregators",
        "native",
        "config",
        "usercode",
        "buffers",
        "keys",
        "commit",
        "exchange",
        "state",
        "windows",
        "chain",
        "io",
        "operators",
        "task",
    ],
    "datastream": [
        "functions",
        "formats",
        "state",
        "window",
        "evictor",
        "program",
        "streams",
        "environment",
    ],
}
"""The folders and files of each part, from the ground up."""

FLUENT = "penstock.datastream.streams"
"""The one room whose modules lead to each other in a circle, as the calls of a user do."""


def between_rooms(part: str) -> set[tuple[str, str]]:
    """(room, room it imports) of all imports within a part of the package."""
    pairs = set()
    for module, imported in imports().items():
        for other in imported:
            here, there = module.split("."), other.split(".")
            if here[1:2] == there[1:2] == [part] and len(here) > 2 < len(there) and here[2] != there[2]:
                pairs.add((here[2], there[2]))
    return pairs


@pytest.mark.parametrize("part", ROOMS)
def test_each_room_imports_only_those_below_it(part: str) -> None:
    order = ROOMS[part]
    pairs = between_rooms(part)
    assert len(pairs) > len(order) // 2, "no imports were found"
    upward = {f"{room} imports {other}" for room, other in pairs if order.index(other) > order.index(room)}
    assert not upward


@pytest.mark.parametrize("part", ROOMS)
def test_every_room_has_its_place(part: str) -> None:
    here = {path.stem for path in (ROOT / part).iterdir() if path.suffix in ("", ".py") and path.stem[0] != "_"}
    assert here == set(ROOMS[part])


def circle(graph: dict[str, set[str]]) -> list[str] | None:
    """Modules that import each other in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def test_no_circle_but_the_fluent_apis_own_room() -> None:
    assert sum(map(len, imports().values())) > len(imports()) > 100
    room = {module for module in imports() if f"{module}.".startswith(f"{FLUENT}.")}
    own = {module: imports()[module] & room for module in room}
    rest = {module: imported - own.get(module, set()) for module, imported in imports().items()}
    assert circle(rest) is None
    assert circle(own) is not None, "the fluent API is no circle any more: it needs no exception"
