"""Rust functions are under forty lines; Rust files, and the stubs of the native module, at most four hundred."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "rust").rglob("*.rs"))
STUBS = sorted((ROOT / "python").rglob("*.pyi"))
FUNCTION = re.compile(r'( *)(?:pub(?:\([^)]*\))? )?(?:(?:const|async|unsafe|extern "C") )*fn (\w+)')


def functions(lines: list[str]) -> Iterator[tuple[str, int]]:
    """Name and lines of each function, its signature included: rustfmt puts the end of one under its beginning."""
    for start, line in enumerate(lines):
        if match := FUNCTION.match(line):
            end = re.compile(rf"{match[1]}(\}}|\).*;)$")  # a body, or a signature without one
            more = (at for at, text in enumerate(lines[start + 1 :], 2) if end.match(text))
            yield match[2], 1 if line.endswith((";", "}")) else next(more)


def test_the_measure_sees_the_whole_of_a_function() -> None:
    text = """
impl Thing for Other {
    fn one_line(&self) -> u32 { 1 }
    pub(crate) const fn three(&self) -> u32 {
        1
    }
    fn declared(
        &self,
    ) -> u32;
}
pub unsafe extern "C" fn long(
    first: u32,
) -> u32 {
    if first == 1 {
        2
    }
}
"""
    assert list(functions(text.splitlines())) == [("one_line", 1), ("three", 3), ("declared", 3), ("long", 7)]


def test_functions_are_under_forty_lines() -> None:
    all_functions = [(file.name, *function) for file in FILES for function in functions(file.read_text().splitlines())]
    assert [function for function in all_functions if function[2] >= 40] == []
    assert len(all_functions) > 1000


def test_files_are_at_most_four_hundred_lines() -> None:
    sizes = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in [*FILES, *STUBS]}
    assert {file: size for file, size in sizes.items() if size > 400} == {}
    assert len(FILES) > 100
    assert len(STUBS) > 4
