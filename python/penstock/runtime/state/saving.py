"""Temporary."""

from __future__ import annotations

import os
import pickle
import uuid
import zlib
from dataclasses import dataclass

from penstock.runtime.config.tasks import StateFile


@dataclass(frozen=True)
class About:
    operator_id: str
    name: str
    uid: str | None
    subtask: int
    parallelism: int
    max_parallelism: int


def save(folder, keyed, operator_state, about, chain, version):
    data = pickle.dumps((keyed.snapshot() if keyed is not None else {}, operator_state.snapshot()))
    if data == pickle.dumps(({}, {})):
        return chain
    name = f"{about.operator_id}-{about.subtask}-{version}-{uuid.uuid4().hex[:8]}"
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)
    return (StateFile(about.operator_id, name, "snapshot", len(data), str(zlib.crc32(data)), 0),)


def load(folder, chains, keyed, operator_state, about):
    snaps = []
    for chain in chains:
        if chain:
            with open(os.path.join(folder, chain[-1].name), "rb") as f:
                snaps.append(pickle.load(f))

    if keyed is not None:
        from penstock.runtime.keys.keygroups import subtask_of_key_group as sg

        r = [
            g for g in range(about.max_parallelism) if sg(g, about.max_parallelism, about.parallelism) == about.subtask
        ]
        for k, _ in snaps:
            keyed.restore({g: d for g, d in k.items() if g in r})
    operator_state.restore([o for _, o in snaps], about.parallelism, about.subtask)
    return chains[about.subtask] if len(chains) == about.parallelism else ()
