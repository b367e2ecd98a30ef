"""Records what the real PyFlink does: ``python -m tests.pyflink_savepoints.recording FOLDER PYTHON…``.

FOLDER keeps what each program has left, so that a second run records only what is missing there; then all of it is
packed into the golden files. Each PYTHON is an interpreter with apache-flink (Java 11 or 17); see README.md.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.pyflink_savepoints.golden import FOLDER, loaded

RUNNER = Path(__file__).with_name("on_pyflink.py")
SAMPLES = Path(__file__).with_name("samples_on_pyflink.py")
VERSION = "import importlib.metadata as it; print(it.version('apache-flink'))"


def main() -> None:
    place, pythons = Path(sys.argv[1]).resolve(), sys.argv[2:]
    programs = loaded()
    for python in pythons:
        version = subprocess.run([python, "-c", VERSION], check=True, capture_output=True, text=True).stdout.strip()
        for name, (_, more) in programs.PROGRAMS.items():
            folder = place / version / name
            if not (folder / "done").exists():
                shutil.rmtree(folder, ignore_errors=True)
                print(version, name, "recorded" if record(python, name, more, folder) else "FAILED", flush=True)
    pack(place)
    texts = (subprocess.run([it, str(SAMPLES)], check=True, capture_output=True, text=True).stdout for it in pythons)
    write("samples", "".join(texts))


def write(name: str, text: str) -> None:
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def record(python: str, name: str, more: dict[str, Any], folder: Path) -> bool:
    """Run a program on the first half of its records up to a savepoint, and on all of them."""
    records = loaded().records()
    half = len(records) // 2
    request = {"name": name, "parallelism": 1, "max_parallelism": 128, "settings": {}, **more}
    folder.mkdir(parents=True)
    (folder / "request.json").write_text(json.dumps({**request, "first": records[:half], "second": records[half:]}))
    for part, some in (("first", records[:half]), ("whole", records)):
        path = folder / f"{part}.json"
        one = {**request, "folder": str(folder / part), "records": some, "savepoint": part == "first"}
        path.write_text(json.dumps(one))
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        with (folder / f"{part}.log").open("w") as log:
            try:
                command = [python, str(RUNNER), str(path)]
                run = subprocess.run(command, env=environment, stdout=log, stderr=log, timeout=240, check=False)
            except subprocess.TimeoutExpired:
                return False
        if run.returncode:
            return False
    (folder / "done").touch()
    return True


def line(folder: Path) -> dict[str, Any]:
    """The golden line of a program."""
    request = json.loads((folder / "request.json").read_text())
    outputs = {
        part: (folder / part / "outputs").read_text(encoding="utf-8").splitlines() for part in ("first", "whole")
    }
    return {
        "name": request["name"],
        "flink": folder.parent.name,
        "api": "pyflink",
        "parallelism": request["parallelism"],
        "max_parallelism": request["max_parallelism"],
        "settings": request["settings"],
        "first": request["first"],
        "second": request["second"],
        "before": list(map(json.loads, outputs["first"])),
        "whole": list(map(json.loads, outputs["whole"])),
    }


def recorded(place: Path) -> Iterator[Path]:
    yield from (done.parent for done in sorted(place.glob("*/*/done")))


def pack(place: Path) -> None:
    FOLDER.mkdir(exist_ok=True)
    write("programs", "".join(f"{json.dumps(line(folder), separators=(',', ':'))}\n" for folder in recorded(place)))
    for version in sorted({folder.parent.name for folder in recorded(place)}):
        with (
            lzma.open(FOLDER / f"{version}.tar.xz", "wb", preset=9) as file,
            tarfile.open(fileobj=file, mode="w") as archive,
        ):
            for folder in (folder for folder in recorded(place) if folder.parent.name == version):
                (savepoint,) = (folder / "first" / "savepoint").iterdir()
                for path in sorted(savepoint.iterdir()):
                    data = _anywhere(path.read_bytes(), place)
                    member = tarfile.TarInfo(f"{folder.name}/{path.name}")
                    member.size = len(data)
                    archive.addfile(member, io.BytesIO(data))


def _anywhere(data: bytes, place: Path) -> bytes:
    """A file that does not say where it was recorded: the source's state has the path of its files."""
    name = os.fsencode(place)
    return data.replace(name, b"/recorded".ljust(len(name), b"-")[: len(name)])


if __name__ == "__main__":
    main()
