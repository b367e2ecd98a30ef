"""Records what the real Flink makes of the programs: ``python -m tests.moves.recording`` writes the golden files anew.
Needs Java and Maven; see ``benches/flink``."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import tempfile
from pathlib import Path

from benches import flink_peer

from tests.moves.golden import FOLDER, LINES, RELEASES


def main() -> None:
    """Run all programs in all versions of Flink."""
    lines: list[str] = []
    for release, version in RELEASES.items():
        with tempfile.TemporaryDirectory() as folder:
            lines += flink_peer.printed(version, "penstock.moves.Recorder", folder)
            _pack(Path(folder), release)
    text = "".join(f"{line}\n" for line in lines)
    (FOLDER / LINES).write_bytes(gzip.compress(text.encode(), mtime=0))


def _pack(folder: Path, release: str) -> None:
    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime = member.uid = member.gid = 0
        member.uname = member.gname = ""
        return member

    with lzma.open(FOLDER / f"{release}.tar.xz", "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
        for path in sorted(folder.iterdir()):
            archive.add(path, path.name, filter=plain)


if __name__ == "__main__":
    main()
