"""Records what the real Flink reads: ``python -m tests.flink_savepoints.recording`` writes ``samples.jsonl.gz``,
``timers.jsonl.gz``, ``written.tar.xz`` and ``entries.jsonl.gz`` anew. Needs Java and Maven; see ``benches/flink``."""

from __future__ import annotations

import gzip
import json
import lzma
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benches import flink_peer

from tests.flink_savepoints.golden import FOLDER, WRITTEN, place, savepoints, unpacked


def main() -> None:
    """Record everything."""
    samples = (line for version in flink_peer.VERSIONS for line in flink_peer.printed(version, _class("Samples")))
    _write("samples", map(json.loads, samples))
    _write("timers", map(json.loads, flink_peer.printed("1.11", _class("Timers"))))
    with tempfile.TemporaryDirectory() as folder:
        flink_peer.printed("2.3", _class("Writer"), folder)
        _pack(Path(folder))
    names = [(line["flink"], line["name"]) for line in savepoints() if "savepoint" in line]
    names += [(WRITTEN, path.name) for path in sorted((unpacked() / WRITTEN).iterdir())]
    lines = flink_peer.printed("2.3", _class("Entries"), *(place(*name) for name in names))
    _write("entries", (_line(*name, json.loads(line)) for name, line in zip(names, lines, strict=True)))


def _class(name: str) -> str:
    return f"penstock.savepoints.{name}"


def _line(release: str, name: str, result: dict[str, Any]) -> dict[str, Any]:
    rest = {"error": result["error"]} if "error" in result else {"entries": result["entries"]}
    return {"flink": release, "name": name, **rest}


def _write(name: str, lines: Iterable[dict[str, Any]]) -> None:
    text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _pack(folder: Path) -> None:
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with lzma.open(FOLDER / f"{WRITTEN}.tar.xz", "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=plain)


if __name__ == "__main__":
    main()
