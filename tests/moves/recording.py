"""Records what the real Flink makes of the programs: ``python -m tests.moves.recording`` writes the golden files anew.
Needs Java and Maven; see ``benches/flink``."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from benches import flink_peer

from tests import maven
from tests.moves.golden import FOLDER, KINDS, LINES, RELEASES, archive
from tests.moves.packing import pack

SAMPLE = (
    *("value_count", "list_sums", "map_counts", "reducing_total", "aggregating_mean", "several_states", "ttl_map"),
    *("large_state", "many_keys", "pipeline", "values_row", "values_pojo", "values_decimal", "key_int", "key_nested"),
    *("timers_event", "timers_deleted", "timers_processing", "keyed_reduce", "keyed_sum", "tumbling_aggregate"),
    *("tumbling_process", "sliding_reduce", "session_process", "session_reduce", "late_process", "trigger_continuous"),
    *("trigger_own", "count_window", "evictor_time", "interval_join", "co_group", "co_process", "broadcast_keyed"),
)
"""The programs that are recorded with other savepoints than canonical ones of state on the heap, too."""

ROCKSDB = {
    "2.3.0": "org.apache.flink:flink-statebackend-rocksdb:2.3.0",
    "1.11.4": "org.apache.flink:flink-statebackend-rocksdb_2.11:1.11.4",
}


def main() -> None:
    """Run all programs in all versions of Flink, and the sample with savepoints of other kinds."""
    lines: list[str] = []
    for release, kind in KINDS:
        jars = maven.jars(f"flink-{release}-rocksdb", ROCKSDB[release]) if kind == "rocksdb" else None
        names = () if kind == "canonical" else SAMPLE
        with tempfile.TemporaryDirectory() as folder:
            recorder = "penstock.moves.Recorder"
            lines += flink_peer.printed(RELEASES[release], recorder, folder, kind, *names, jars=jars)
            folders = {path.name: path for path in Path(folder, "savepoints").iterdir()}
            pack(folders, archive(release, kind))
    text = "".join(f"{line}\n" for line in lines)
    (FOLDER / LINES).write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
