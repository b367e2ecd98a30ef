"""Programs that write files, and what they have written."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from penstock.common import WatermarkStrategy
from penstock.common.serialization import Encoder
from penstock.datastream.connectors import BucketAssigner, FileSink, NumberSequenceSource

NONE = WatermarkStrategy.no_watermarks()
LINES = Encoder.simple_string_encoder()
BASE = BucketAssigner.base_path_bucket_assigner()
NAME = re.compile(r"(.*)-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-(\d+)-(\d+)(.*)")


def to(folder, encoder=LINES, assigner=BASE):
    return FileSink.for_row_format(str(folder), encoder).with_bucket_assigner(assigner)


def numbers(env, count=100):
    return env.from_source(NumberSequenceSource(0, count - 1), NONE, "numbers")


def parts(folder: Path) -> dict[str, dict[int, list[str]]]:
    """The texts of the files, by bucket and subtask, in the order of their counters, which begin at 0."""
    texts: dict[str, dict[int, dict[int, str]]] = defaultdict(lambda: defaultdict(dict))
    ids = defaultdict(set)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            match = NAME.fullmatch(path.name)
            assert match is not None, path.name
            assert (match[1], match[5]) == ("part", ""), path.name
            bucket = str(path.parent.relative_to(folder))
            ids[match[2]].add(bucket)
            texts[bucket][int(match[3])][int(match[4])] = path.read_text()
    assert all(len(buckets) == 1 for buckets in ids.values())
    for subtasks in texts.values():
        assert all(sorted(counters) == list(range(len(counters))) for counters in subtasks.values())
    return {
        bucket: {subtask: [texts[i] for i in sorted(texts)] for subtask, texts in subtasks.items()}
        for bucket, subtasks in texts.items()
    }


def lines(folder: Path) -> list[str]:
    return sorted(
        line for path in folder.rglob("*") if path.is_file() for line in path.read_text().splitlines(keepends=True)
    )


class Remainder(BucketAssigner[int]):
    def get_bucket_id(self, element: int, context: BucketAssigner.Context, /) -> str:
        return f"remainder={element % 3}"
