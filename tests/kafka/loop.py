"""A loop of steps in small: it asks a source for splits, reads what a step may read of each, and keeps positions."""

from __future__ import annotations

import pickle
from typing import Any

from penstock.runtime.io.splits import Split


class Loop:
    def __init__(self, source: Any, positions: dict[str, Any] | None = None) -> None:
        self.source = pickle.loads(pickle.dumps(source))
        self.source.resume(positions)
        self.positions = dict(positions or {})
        self.values: dict[str, list[Any]] = {}
        self.read: list[Split] = []

    def step(self, records: int | None = None, counts: bool = True) -> list[Any]:
        reader = pickle.loads(pickle.dumps(self.source))  # as a task has it
        positions, values = dict(self.positions), {}
        self.read = []
        for split in self.source.pending(1, self.positions):
            positions[split.id] = split.start
            part = Split(split.id, split.start, split.end, split.weight)
            part = part if records is None else self.source.limited(part, records)
            self.read.append(part)
            for batch in reader.read(part):
                values.setdefault(split.id, []).extend(batch.values)
                positions[split.id] = batch.position
            assert positions[split.id] == part.end
        if counts:
            self.positions = pickle.loads(pickle.dumps(positions))
            self.source.committed(self.positions)
            for split_id, split_values in values.items():
                self.values.setdefault(split_id, []).extend(split_values)
        return [value for part in values.values() for value in part]

    def all(self) -> list[Any]:
        return sorted(value for part in self.values.values() for value in part)
