"""Checksums that the real Flink printed: ``PENSTOCK_FLINK=1 python -m tests.flink.stored_checksums`` rewrites them."""

from __future__ import annotations

import json
import tempfile
from typing import Any

from benches import flink_peer

from tests.golden.load import FOLDER, plan_record

FILE = FOLDER / "checksums.json"
PHASES = ("hash", "job_graph", "execution_graph", "regions", "restart", "release")
BOTH = ("hw_wordcount", "pub_0130", "pub_0230", "pub_0284")
NAMES = {"1.11": (*BOTH, "hw_source_with_input_chained", "pub_0025"), "2.3": BOTH}
"""Co-location, user hashes, blocking beside pipelined exchanges; what 2.3 refuses: a source with an input, a loop."""


def stored() -> dict[str, dict[str, Any]]:
    """By Flink version and name of the golden graph: the checksum of each phase."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def printed(version: str, name: str) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(plan_record(name)["spec"], file)
        file.flush()
        timings = flink_peer.time(version, file.name, PHASES, rounds=1, warm_seconds=0, heap="1g")
    assert not [timing.died for timing in timings if timing.died]
    return {timing.phase: timing.checksum for timing in timings}


if __name__ == "__main__":
    everything = {version: {name: printed(version, name) for name in names} for version, names in NAMES.items()}
    FILE.write_text(json.dumps(everything, indent=1) + "\n", encoding="utf-8")
