"""`make release-check`: a rehearsal of a release. It builds the sources and each wheel that this machine can build,
checks them, installs each in a bare root, and runs the demo there. It names what cannot be done here.

Usage: python .ci/release_check.py [--only-check] [--only TEXT] [FOLDER]
  FOLDER        dist, unless another folder is named; the wheels and sources in it are built again
  --only-check  check what is in the folder; build and run nothing
  --only TEXT   nothing but the targets whose names contain it, such as musl, or sources

A bare root (bare_roots.py) is a Debian of nothing but its essential packages and Python, or for musl Python alone.
Bubblewrap enters it: no network, no Java, no compiler, nothing of this machine but the wheels and the examples. A wheel
for another processor runs there under qemu-user. The wheel that pip builds from the sources is installed in an empty
virtual environment, and runs with an empty home and no variable of this shell. Takes five minutes for each wheel on two
cores.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bare_roots import BIN, ROOT, TOOLS, in_bare_environment, in_bare_root, run

LARGEST = 10 << 20
"""Bytes that a wheel may have."""
NEEDED = ("py.typed", "_native.pyi", "viewer/viewer.html", "licenses/LICENSE", "entry_points.txt")


@dataclass(frozen=True)
class Target:
    """What a wheel is built for."""

    triple: str  # as Rust names it
    tag: str  # the platform in the wheel's name, as a pattern
    options: tuple[str, ...] = ()  # of maturin

    @property
    def machine(self) -> str:
        """The processor, as `uname -m` has it."""
        return self.tag.partition("_*_")[2] or self.triple.partition("-")[0]


def linux(machine: str, libc: str, policy: str) -> Target:
    """A Linux with one of the two C libraries, of this version or newer."""
    return Target(f"{machine}-unknown-linux-{libc}", f"{policy}_{machine}", ("--zig", "--compatibility", policy))


LINUX = [
    linux("x86_64", "gnu", "manylinux_2_28"),
    linux("aarch64", "gnu", "manylinux_2_28"),
    linux("x86_64", "musl", "musllinux_1_2"),
    linux("aarch64", "musl", "musllinux_1_2"),
]
MACOS = [Target("x86_64-apple-darwin", "macosx_*_x86_64"), Target("aarch64-apple-darwin", "macosx_*_arm64")]


class Rehearsal:
    """What has been built in a folder, what ran, and what could not be done."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.shown: dict[str, str] = {}  # by the package's name, what the demo printed
        self.skipped: list[str] = []

    def skip(self, what: str, why: str) -> None:
        """Note what cannot be done here."""
        print(f"SKIPPED {what}: {why}", flush=True)
        self.skipped.append(f"{what}: {why}")

    def build(self, target: Target) -> None:
        """The wheel for a target, if this machine can build it, and the demo with it, if this machine can run it."""
        what = f"building for {target.triple}"
        if shutil.which("rustup") is None:
            return self.skip(what, "rustup is not installed, which gets the standard library for it")
        if target.triple not in run("rustup", "target", "list", "--installed").split():
            return self.skip(what, f"its standard library is absent: rustup target add {target.triple}")
        build = ("build", "--release", "--locked", "--target", target.triple, *target.options)
        run(BIN / "maturin", *build, "--out", self.folder)
        [wheel] = self.folder.glob(f"penstock-*-{target.tag}.whl")
        check([wheel])
        with tempfile.TemporaryDirectory(prefix="penstock-release-") as temporary:
            return self.install(target, wheel, Path(temporary))

    def install(self, target: Target, wheel: Path, folder: Path) -> None:
        """Install a wheel in a bare root, if one can be made here, and run the demo there."""
        own = target.machine == platform.machine()
        if target in MACOS and own:
            self.shown[wheel.name] = in_bare_environment(wheel, folder)
            return None
        libc = target.triple.rpartition("-")[2]
        if libc not in TOOLS:
            return self.skip(f"running {wheel.name}", "there is no bare root for it")
        tools = TOOLS[libc] if own else {**TOOLS[libc], f"qemu-{target.machine}-static": "qemu-user-static"}
        absent = [package for tool, package in tools.items() if shutil.which(tool) is None]
        if absent:
            return self.skip(f"running {wheel.name}", f"install {', '.join(absent)}")
        self.shown[wheel.name] = in_bare_root(wheel, target.machine, libc, folder, emulated=not own)
        return None

    def build_sources(self) -> None:
        """The packed sources, a wheel that pip builds from them by the quick profile, and the demo with it."""
        run(BIN / "maturin", "sdist", "--out", self.folder)
        [sources] = self.folder.glob("penstock-*.tar.gz")
        check([sources])
        more = {"CARGO_TARGET_DIR": str(ROOT / "target" / "sources"), "MATURIN_PEP517_ARGS": "--profile tested"}
        with tempfile.TemporaryDirectory(prefix="penstock-release-") as temporary:
            run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", temporary, sources, **more)
            [wheel] = Path(temporary).glob("penstock-*.whl")
            self.shown[sources.name] = in_bare_environment(wheel, Path(temporary))

    def report(self) -> None:
        """Print what was done; ends with it if the demo did not print the same everywhere."""
        if not self.shown:
            sys.exit("The demo ran nowhere.")
        first, *others = self.shown.values()
        if any(other != first for other in others):
            shown = "\n".join(f"== {name}\n{text}" for name, text in self.shown.items())
            sys.exit(f"The demo does not print the same everywhere:\n{shown}")
        print(f"{first}\n")
        for package in packages(self.folder):
            state = "ran" if package.name in self.shown else "did not run"
            print(f"{package.stat().st_size / 1e6:5.1f} MB  {state:<11}  {package.name}")
        print("\n".join(f"not done: {line}" for line in self.skipped))


def packages(folder: Path) -> list[Path]:
    """The wheels and the packed sources in a folder."""
    return sorted([*folder.glob("penstock-*.tar.gz"), *folder.glob("penstock-*.whl")])


def check(packages: Sequence[Path]) -> None:
    """Metadata, contents, size, the stable ABI, and that each wheel needs no newer system than its name says."""
    if not packages:
        sys.exit("There is nothing to check.")
    run(BIN / "twine", "check", "--strict", *packages)
    for wheel in packages:
        if wheel.suffix != ".whl":
            continue
        names = zipfile.ZipFile(wheel).namelist()
        absent = [name for name in NEEDED if not any(have.endswith(name) for have in names)]
        if absent:
            sys.exit(f"{wheel.name} lacks {', '.join(absent)}.")
        if wheel.stat().st_size > LARGEST:
            sys.exit(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {LARGEST:,}. What has been added?")
        run(BIN / "abi3audit", "--strict", wheel)
        if "linux_" in wheel.name:
            check_symbols(wheel)


def check_symbols(wheel: Path) -> None:
    """By auditwheel: a wheel needs no library but the C library, and of that no newer symbols than its name says."""
    # the libraries of this machine, of another C library perhaps, are not to be looked at
    found = json.loads(run(BIN / "auditwheel", "show", "--json", "--ldpaths", "/nowhere", wheel))
    others = set(found["external_libs"]) - {"libc.so"}  # as musl calls itself
    if others:
        sys.exit(f"{wheel.name} needs {', '.join(sorted(others))}, which a system may not have.")
    for named in wheel.stem.rpartition("-")[2].split("."):
        if version(found["sym_tag"]) > version(named):
            sys.exit(f"{wheel.name} has symbols of {found['sym_tag']}: {found['versioned_symbols']}")


def version(tag: str) -> tuple[int, int]:
    """The version of the C library in a platform tag."""
    matched = re.match(r"(?:many|musl)linux_(\d+)_(\d+)_", tag)
    if matched is None:
        sys.exit(f"A wheel for {tag!r} cannot be published: it runs where it was built. Build it with --compatibility.")
    return int(matched[1]), int(matched[2])


def main(folder: Path, only: str) -> None:
    """The whole rehearsal, or some targets alone. The sources come first: they take least."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in packages(folder):
        old.unlink()
    rehearsal = Rehearsal(folder)
    if only in "sources":
        rehearsal.build_sources()
    for target in MACOS if sys.platform == "darwin" else LINUX:
        if only in target.triple:
            rehearsal.build(target)
    rehearsal.report()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--only-check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    arguments = parser.parse_args()
    if arguments.only_check:
        check(packages(arguments.folder))
    else:
        main(arguments.folder, arguments.only)
