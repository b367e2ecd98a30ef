"""Legal but odd values for the fields of a SPEC: the ends of ranges, sums that wrap, text that must be escaped."""

from __future__ import annotations

from typing import Any

from tests.generator.choices import SeededChoices
from tests.properties.graphs import Spec, seeded_spec

INT_MIN, INT_MAX, LONG_MIN, LONG_MAX = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1

# field -> (how often, in percent; values).
ODD: dict[str, tuple[int, tuple[Any, ...]]] = {
    "managed_memory_weight": (30, (INT_MAX, 2**30, 5, 0, 1)),
    "buffer_timeout": (20, (-5, 2**40, LONG_MIN, LONG_MAX, 0, -1)),
    "parallelism": (10, (40, 41, 33, 129, INT_MIN, 0, -1)),
    "user_hash": (5, ("+1" * 16, "-1" * 16, "- " * 16, "0x" * 16, "a" * 33, "_1" * 16, " 1" * 16, "1_" * 16)),
    "slot_sharing_group": (5, ("", "Default", "default ", " ")),
    "co_location_group": (5, ("", "x")),
    "name": (
        10,
        ("\x7f\x80\x9f", "\u2028\u2029", "\ufeff", "\x1f\x0b", "&#92;\\", '"', "ÿ÷×", "ϑϒϖ℘ℑℜ™ℵ", "〈〉", "ªº¿"),
    ),
}
CORES = (0.1, 0.2, 1e-9, 3.3, 1e15, 0.30000000000000004, 1 / 3)
MEGABYTES = (0, 1, 2**20, INT_MAX)
INTERVALS = (1, 9, 10, 0, -1, 2**62, LONG_MAX)


def odd_spec(seed: int) -> Spec:
    """A small random SPEC with some of its values replaced by odd ones."""
    spec, choices = seeded_spec(seed, 1 + seed % 14), SeededChoices(-seed)
    for node in spec["nodes"]:
        for field, (percent, values) in ODD.items():
            if choices.chance(percent):
                node[field] = choices.pick(values)
        if choices.chance(5):
            node["uid"] = choices.pick(("\x00", "a", "🦀")) + str(node["id"])
        if node.get("min_resources") and choices.chance(50):
            megabytes = {key: choices.pick(MEGABYTES) for key in ("heap_mb", "off_heap_mb", "managed_mb")}
            node["min_resources"] = {"cpu": choices.pick(CORES), **megabytes}
    if choices.chance(20):
        interval = choices.pick(INTERVALS)
        spec["settings"] |= {
            "checkpointing_enabled": True,
            "force_checkpointing": True,
            "checkpoint_interval": interval,
        }
    return spec
