"""The picture of the house shows the rooms that there are, and who imports whom."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.house.draw import PICTURE, SAYS, arrows, reduced, rooms

HOW = "draw it anew: python -m tests.house.draw (needs Graphviz)"


@pytest.mark.slow
def test_it_shows_every_room_and_every_arrow() -> None:
    svg = unescape(PICTURE.read_text())
    shown = set(re.findall(r'class="node">\s*<title>([^<]+)</title>', svg))
    pairs = {tuple(title.split(" imports ")) for title in re.findall(r'xlink:title="([^"]+ imports [^"]+)"', svg)}
    assert len(shown) > 30
    assert shown == rooms(), HOW
    assert pairs == arrows(), HOW


@pytest.mark.slow
def test_every_room_is_told_about() -> None:
    assert rooms() == SAYS.keys()
    svg = unescape(PICTURE.read_text())
    assert {room for room, text in SAYS.items() if f">{text}<" not in svg} == set(), HOW


def test_the_architecture_shows_it() -> None:
    assert "](house.svg)" in (PICTURE.parent / "architecture.md").read_text()


def test_what_the_architecture_says_where_to_look_for_is_there() -> None:
    part = (PICTURE.parent / "architecture.md").read_text().partition("### Where to look\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| `([^`]+)`[^|]* \| `(\w+)` \|$", part, re.MULTILINE)
    assert len(rows) == part.count("\n| ") - 2
    root = PICTURE.parents[1]
    for path, name in rows:
        file = root / path if path.startswith("rust/") else root / "python" / "penstock" / path
        assert re.search(rf"\b(?:def|fn) {name}\b", file.read_text()), f"{path} has no {name}"


def test_the_modules_that_the_architecture_names_are_there() -> None:
    root = PICTURE.parents[1] / "python" / "penstock"
    rooms = "|".join(sorted(path.name for path in root.iterdir() if path.is_dir() and path.name != "pyflink"))
    names = re.findall(rf"`((?:{rooms})\.[a-z_.]+)`", (PICTURE.parent / "architecture.md").read_text())
    assert len(names) > 12
    places = [root.joinpath(*name.split(".")) for name in names]
    assert [place for place in places if not place.is_dir() and not place.with_suffix(".py").exists()] == []


def test_what_follows_from_others_is_left_out() -> None:
    assert reduced({("a", "b"), ("b", "c"), ("a", "c"), ("a", "d")}) == {("a", "b"), ("b", "c"), ("a", "d")}
