"""Pins in sources: where the calls stand, and nothing else is another character."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.analysis.model import Site
from penstock.lock.fixer import fix
from penstock.lock.pins import HASH, UID, Pin

ID = "90bea66de1c231edf33913ecd54406c1"


def _site(path: Path, call: str, *, ends: bool = True, encoding: str = "utf-8") -> Site:
    """Where a call stands in a file that has ``@`` behind it; the mark is removed."""
    text = path.read_bytes()
    before, _, after = text.partition(b"@")
    path.write_bytes(before + after)
    lines = before.split(b"\n")
    name = max(number for number, line in enumerate(lines, 1) if f".{call}(".encode() in line)
    return Site(
        str(path), name, call, len(lines) if ends else None, len(lines[-1].decode(encoding).encode()) if ends else None
    )


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = s.map(f)@\n", 'x = s.map(f).set_uid_hash("ID")\n'),
        ("x = s.map(f)@.filter(g)  # why\n", 'x = s.map(f).set_uid_hash("ID").filter(g)  # why\n'),
        ("s.map(f)@.name('ä')\ty = 1\n".replace("\t", "; "), "s.map(f).set_uid_hash(\"ID\").name('ä'); y = 1\n"),
        (
            "(\n    s\n    .map(\n        f,\n    )@\n\n    # then\n    .print()\n)\n",
            '(\n    s\n    .map(\n        f,\n    )\n    .set_uid_hash("ID")\n\n    # then\n    .print()\n)\n',
        ),
        ("x = (\n    s  # all\n    .map(f)@\n)\n", 'x = (\n    s  # all\n    .map(f)\n    .set_uid_hash("ID")\n)\n'),
        ("s \\\n    .map(f)@ \\\n    .print()\n", 's \\\n    .map(f) \\\n    .set_uid_hash("ID") \\\n    .print()\n'),
        ("def go(s):\r\n\treturn s.map(f)@\r\n", 'def go(s):\r\n\treturn s.map(f).set_uid_hash("ID")\r\n'),
        ('"ä𝒳漢"; s.map("漢")@\n', '"ä𝒳漢"; s.map("漢").set_uid_hash("ID")\n'),
        ("# coding: latin-1\ns.map('\xe4')@\n", "# coding: latin-1\ns.map('\xe4').set_uid_hash(\"ID\")\n"),
        ("s.map(f)@.set_uid_hash('old').name('x')", "s.map(f).set_uid_hash(\"ID\").name('x')"),
        ("(s.map(f)@)\n", '(s.map(f).set_uid_hash("ID"))\n'),
        ("z(s.map(lambda v: v.map(1)[0] @ 2)@)\n".replace(" @ ", " % "), None),
    ],
)
def test_only_the_call_is_added(source: str, expected: str | None, ends: bool, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    encoding = "latin-1" if "latin-1" in source else "utf-8"
    path.write_bytes(source.encode(encoding))
    pin = Pin("Map", HASH, ID, _site(path, "map", ends=ends, encoding=encoding))
    fixed = fix([pin])
    text = path.read_bytes().decode(encoding)
    if expected is None:
        assert bool(fixed.written) == ends  # two calls of one name stand on the line
    else:
        assert text == expected.replace("ID", ID)
        assert fixed.written == (pin,)


@pytest.mark.parametrize(
    ("source", "method", "expected"),
    [
        ("s.map(f)@.name('m').uid('new').print()\n", UID, "s.map(f).name('m').uid(\"old\").print()\n"),
        ("s.map(f)@.uid(NEW)\n", HASH, f's.map(f).set_uid_hash("{ID}").uid(NEW)\n'),
        ("t = s.map(f)@\nt.uid('new')\n", HASH, f"t = s.map(f).set_uid_hash(\"{ID}\")\nt.uid('new')\n"),
    ],
)
def test_a_uid_is_put_back_where_it_is_a_literal(source: str, method: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(source)
    fixed = fix([Pin("Map", UID, "old", _site(path, "map"), instead_of="new", otherwise=ID)])
    assert path.read_text() == expected
    assert [pin.method for pin in fixed.written] == [method]


def test_several_at_once_keep_permissions(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("a.map(f)@.filter(g)\nb.map(h)\n")
    path.chmod(0o755)
    first = _site(path, "map")
    second, third = Site(str(path), 1, "filter", 1, 18), Site(str(path), 2, "map", 2, 8)
    fixed = fix([Pin("1", HASH, "1", first), Pin("2", UID, 'a"b', second), Pin("3", HASH, "3", third)])
    assert len(fixed.written) == 3
    assert path.read_text() == ('a.map(f).set_uid_hash("1").filter(g).uid(\'a"b\')\nb.map(h).set_uid_hash("3")\n')
    assert path.stat().st_mode & 0o777 == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["program.py"]


def _left(pins: Sequence[Pin]) -> list[str]:
    fixed = fix(pins)
    assert not fixed.written
    return [why for _, why in fixed.left]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    source = "a.map(f).set_uid_hash(OLD)\n"
    path.write_text(source)
    at = Site(str(path), 1, "map", 1, 8)
    assert _left([Pin("x", HASH, ID, at, unreachable="its line is run twice")]) == ["its line is run twice"]
    assert _left([Pin("x", HASH, ID, at)]) == ["what its set_uid_hash() is given is not a literal"]
    assert _left([Pin("x", HASH, ID, Site(str(path), 1, "map", 1, 7))]) == ["its call is not found in the file"]
    assert _left([Pin("x", HASH, ID, Site(str(path), 9, "map", 9, 7))]) == ["its call is not found in the file"]
    assert "not a file" in _left([Pin("x", HASH, ID, Site("<stdin>", 1, "map", 1, 8))])[0]
    path.write_text("a.map(f")
    assert "cannot be parsed" in _left([Pin("x", HASH, ID, at)])[0]
    assert path.read_text() == "a.map(f"
