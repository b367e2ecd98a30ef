"""Reads and runs the fenced blocks of a Markdown page: ``python -m tests.docs.documents PAGE``."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    words: tuple[str, ...]
    text: str
    line: int
    output: str | None

    @property
    def language(self) -> str:
        return self.words[0] if self.words else ""


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    source = page.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(source))
    result = []
    for fence, after in zip_longest(fences, fences[1:]):
        follows = after is not None and after[1].strip() == "text" and not source[fence.end() : after.start()].strip()
        line = source.count("\n", 0, fence.start(2)) + 1
        result.append(Block(tuple(fence[1].split()), fence[2], line, after[2] if after and follows else None))
    return result


def commands(block: Block) -> list[tuple[str, str]]:
    """A ``console`` block as pairs of a command (after ``$ ``) and the output shown below it."""
    parts = re.split(r"^\$ (.*)$", block.text, flags=re.MULTILINE)
    return [(command, output.strip("\n")) for command, output in zip(parts[1::2], parts[2::2], strict=True)]


def run_programs(page: Path, programs: Sequence[Block]) -> int:
    """Run programs of a page in one namespace and hold what they print to what the page shows; how many there were."""
    from penstock.datastream.environment import executors

    names: dict[str, object] = {"__name__": "__main__"}
    for block in programs:
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        chosen = contextlib.nullcontext() if "spark" in block.words else executors.override("local")
        with chosen, contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(code, names)
        if block.output is not None:
            assert printed.getvalue() == block.output, f"{page.name}:{block.line} prints {printed.getvalue()!r}"
    return len(programs)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print(run_programs(target, [block for block in blocks(target) if block.language == "python"]))
