"""The Python that a job takes along to YARN, packed as docs/clusters.md says, of what is installed here."""

from __future__ import annotations

import re
import shutil
import sysconfig
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import penstock


def pack(folder: Path) -> Path:
    """An archive of an environment with Penstock, the extra ``hdfs``, and no PySpark."""
    import venv_pack

    prefix, archive = folder / "packed", folder / "environment.tar.gz"
    venv.create(prefix, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(prefix)}))
    ignore = shutil.ignore_patterns("__pycache__", "tests", "include")
    shutil.copytree(Path(penstock.__file__).parent, site / "penstock", ignore=ignore)
    for name in sorted((needed("penstock") | needed("hdfs-native")) - {"penstock"}):
        for top in tops(name):
            if top.is_dir():
                shutil.copytree(top, site / top.name, ignore=ignore)
            else:
                shutil.copy(top, site)
    venv_pack.pack(prefix=str(prefix), output=str(archive), compress_level=1)
    return archive


def needed(name: str) -> set[str]:
    """The installed packages that one needs without its extras, with itself."""
    names = {name}
    for text in metadata.requires(name) or ():
        required = re.split(r"[^A-Za-z0-9._-]", text, maxsplit=1)[0]
        if "extra ==" not in text and installed(required):
            names |= needed(required)
    return names


def installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:  # for another Python or system
        return False
    return True


def tops(name: str) -> Iterator[Path]:
    """The files and folders of a package in the folder where it is installed."""
    files = metadata.files(name) or ()
    parts = {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}
    for part in sorted(parts):
        yield Path(str(metadata.distribution(name).locate_file(part)))
