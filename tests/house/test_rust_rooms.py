"""Rooms of the Rust crates: each imports only those below it, and the planner's passes are numbered as they run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

RUST = Path(__file__).resolve().parents[2] / "rust"

CRATES = {
    "runtime": set(),
    "columns": {"runtime"},
    "planner": set(),
    "objects": {"columns", "runtime"},
    "python": {"objects", "planner"},
}
"""The crates, and those of ours that each uses. Only the last two know Python."""

ORDER = {
    "runtime": ["hash", "key_groups", "key_type", "columns", "folds"],
    "columns": [
        *("json", "scan", "value", "python", "column", "exchange", "batch", "filling", "lines", "reading", "writing"),
        *("program", "heap", "machine", "vectors", "pipeline", "accumulator", "stamps", "router", "tables"),
    ],
    "planner": [
        *("dense", "java", "work", "profile", "error"),
        *("stream_graph", "shapes", "identity", "job_graph", "execution_graph", "json"),
    ],
    "objects": [
        *("items", "owned", "moments", "trees", "decode", "encode", "folds", "router", "capsules"),
        *("shapes", "gather", "hand_over", "batches", "pipelines", "layouts", "readings"),
        *("keyed_table", "keyed", "windows", "counts", "process", "triggers", "state"),
    ],
    "python": ["huge_pages", "interrupt", "repr", "error", "arrow", "execution_graph", "job_graph", "stream_graph"],
}
"""The rooms of each crate, from the ground up; lib.rs stands above them."""

NATURAL = {
    ("execution_graph", "job_graph"),
    ("job_graph", "stream_graph"),
}
"""The one circle, in the door: a graph makes the next one, and hands out the one that it was made from."""

TESTS = re.compile(r"#\[cfg\(test\)\]\n(?:pub )?mod (\w+)(?:;| \{[\s\S]*)")


def sources(crate: str) -> Iterator[tuple[Path, str]]:
    """Every file but lib.rs, by its path in the crate, and its text; without tests and comments."""
    root = RUST / crate / "src"
    texts = {file.relative_to(root): file.read_text() for file in sorted(root.rglob("*.rs"))}
    of_tests = {match[1] for text in texts.values() for match in TESTS.finditer(text)}
    for path, text in texts.items():
        if path.stem not in of_tests and path.name != "lib.rs":
            yield path, re.sub(r"//.*", "", TESTS.sub("", text))


def imports(crate: str) -> set[tuple[str, str]]:
    """Pairs of a room and another one that it names, as ``crate::other`` or by way of ``super``."""
    pairs = set()
    for path, text in sources(crate):
        module = path.with_suffix("").parts
        module = module[:-1] if module[-1] == "mod" else module
        for match in re.finditer(r"\b(crate|super(?:::super)*)::(\w+)", text):
            up = len(module) if match[1] == "crate" else match[1].count("super")
            pairs.add((module[0], (*module[: len(module) - up], match[2])[0]))
    return {(room, other) for room, other in pairs if room != other}


@pytest.mark.parametrize("crate", ORDER)
def test_each_room_imports_only_those_below_it(crate: str) -> None:
    rooms = ORDER[crate]
    assert {path.parts[0].removesuffix(".rs") for path, _ in sources(crate)} == set(rooms)
    back = {(room, other) for room, other in imports(crate) if rooms.index(room) < rooms.index(other)}
    assert back == (NATURAL if crate == "python" else set())


def test_imports_were_looked_at() -> None:
    pairs = {(crate, *pair) for crate in ORDER for pair in imports(crate)}
    assert {("planner", "identity", "java"), ("objects", "folds", "decode"), ("python", "arrow", "interrupt")} <= pairs
    assert len(pairs) > 40


@pytest.mark.parametrize("crate", CRATES)
def test_crates_know_only_those_below_them(crate: str) -> None:
    manifest = (RUST / crate / "Cargo.toml").read_text()
    assert set(re.findall(r"^penstock-(\w+) =", manifest, re.M)) == CRATES[crate]
    assert ("pyo3" in manifest) is (crate in ("objects", "python"))


def test_every_crate_has_an_order() -> None:
    crates = {manifest.parent.name for manifest in RUST.glob("*/Cargo.toml")}
    assert crates == CRATES.keys() == ORDER.keys()


def test_every_room_says_what_lives_there() -> None:
    doors = [*RUST.glob("*/src/lib.rs"), *RUST.glob("*/src/**/mod.rs")]
    assert [str(door) for door in doors if not door.read_text().startswith("//! ")] == []
    assert len(doors) > 15


def test_passes_are_numbered_in_the_order_in_which_they_run() -> None:
    planner = RUST / "planner" / "src"
    pipeline = [
        int(number) for number in re.findall(r"// (\d+)\. ", (planner / "job_graph" / "compile.rs").read_text())
    ]
    headers = [re.match(r"//! Pass(?:es)? ([\d and]+):", file.read_text()) for file in planner.rglob("*.rs")]
    numbers = [int(number) for header in headers if header for number in re.findall(r"\d+", header[1])]
    assert pipeline == sorted(numbers) == list(range(1, len(pipeline) + 1))
    assert len(pipeline) >= 10
