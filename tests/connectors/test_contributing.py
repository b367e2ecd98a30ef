"""The format that CONTRIBUTING.md shows as an example: it reads and writes, and resumes where it stopped."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from penstock.errors import FileFormatError
from penstock.runtime.io.splits import Split


def example():
    page = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text("utf-8")
    [code] = re.findall(r"## Add a file format\n.*?```python\n(.*?)```", page, re.DOTALL)
    module = types.ModuleType("fixed_width")
    sys.modules["fixed_width"] = module  # where dataclass looks for it
    exec(code, module.__dict__)
    return module


def test_it_reads_what_it_writes(tmp_path):
    module, path = example(), tmp_path / "file"
    with path.open("wb") as out:
        for record in (b"abc", b"def", b"ghi"):
            module.FixedWidthEncoder().encode(record, out)
    [split] = module.FixedWidthFormat(3).splits((str(path),), False)
    [records] = module.FixedWidthFormat(3).read(split)
    assert (records.values, records.position) == ([b"abc", b"def", b"ghi"], 9)
    assert [r.values for r in module.FixedWidthFormat(3).read(Split(str(path), 6))] == [[b"ghi"]]
    with pytest.raises(FileFormatError, match="ends within a record of 4 bytes"):
        list(module.FixedWidthFormat(4).read(split))
