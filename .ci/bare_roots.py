"""Where `make release-check` installs what it has built, and runs the demo: bare roots, and empty environments.

A bare root for glibc is a Debian of nothing but its essential packages and Python. Debian has no Python for musl, so
that root is made here: CPython from Debian's sources, which zig compiles for each processor, and musl's loader from
Debian's package `musl`, which is unpacked and never installed. It takes some minutes, and is kept in target/musl.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pip

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
DEMO = (("--version",), ("explain", "examples/sessions.py"), ("run", "--local", "examples/sessions.py"))
DEBIAN_MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
DEBIAN = {"gnu": "bookworm", "musl": "trixie"}
"""The release of Debian that each root comes from, by its C library."""
PYTHON = {"gnu": "3.11", "musl": "3.13"}
"""The Python that the release has."""
PLATFORMS = {"gnu": ("manylinux_2_28", "manylinux_2_17", "manylinux2014"), "musl": ("musllinux_1_2", "musllinux_1_1")}
"""Of the wheels that fit."""
TOOLS = {
    "gnu": {"mmdebstrap": "mmdebstrap", "bwrap": "bubblewrap"},
    "musl": {
        "apt-get": "apt",
        "dpkg-deb": "dpkg",
        "cc": "gcc",
        "make": "make",
        "xz": "xz-utils",
        "bwrap": "bubblewrap",
    },
}
"""What a root needs, with its package."""
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
MUSL = ROOT / "target" / "musl"
OPTIMIZE = "-O1 -fPIC -fno-sanitize=undefined -Wno-error=date-time -w"
"""How zig compiles. Without -fPIC a program would have its own copies of musl's variables, such as `environ`, and
stdin and stdout in one place."""


def run(*command: str | Path, **more: str) -> str:
    """Run a command in the project's folder, with more variables. Returns what it prints; ends with it if it fails."""
    words = [str(part) for part in command]
    print("$", *(words if words[0] != "bwrap" else ["bwrap ...", *words[words.index("/project") + 1 :]]), flush=True)
    path = f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"  # maturin looks there for the Python that has zig
    environment = {**os.environ, "PATH": path, **more}
    done = subprocess.run(words, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout}\n`{' '.join(words)}` ended with status {done.returncode}.")
    return done.stdout


def demonstrate(*python: str | Path) -> str:
    """Run the demo by an interpreter; what it prints."""
    printed = [run(*python, "-m", "penstock", *command) for command in DEMO]
    if not all(part.strip() for part in printed):
        sys.exit("A command of the demo has printed nothing.")
    return "\n".join(printed)


def in_bare_environment(wheel: Path, folder: Path) -> str:
    """Install a wheel in an empty virtual environment and run the demo there; what it prints."""
    environment, home = folder / "environment", folder / "home"
    home.mkdir()
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    run(sys.executable, "-m", "pip", "--python", environment, "install", "--quiet", wheel)
    bare = ("env", "--ignore-environment", f"HOME={home}", f"PATH={environment / 'bin'}", "LC_ALL=C.UTF-8")
    return demonstrate(*bare, environment / "bin" / "python")


def in_bare_root(wheel: Path, machine: str, libc: str, folder: Path, *, emulated: bool) -> str:
    """Install a wheel in a bare root and run the demo there; what it prints."""
    root, wheels = folder / "root", folder / "wheels"
    root.mkdir()
    packed = debian_root(machine, folder) if libc == "gnu" else musl_root(machine)
    run("tar", "--extract", "--no-same-owner", "--file", packed, "--directory", root)
    platforms = [f"--platform={name}_{machine}" for name in PLATFORMS[libc]]
    wanted = (*platforms, "--python-version", PYTHON[libc], "--only-binary=:all:")
    run(sys.executable, "-m", "pip", "download", "--quiet", *wanted, "--dest", wheels, wheel)
    python = entering(root, machine, libc, wheels, emulated=emulated)
    offline = ("--quiet", "--root-user-action=ignore", "--no-index")
    if libc == "musl" and emulated:  # pip would start musl's loader to ask for its version: qemu starts no process
        packages = root / "usr" / "lib" / f"python{PYTHON[libc]}" / "site-packages"
        install = (sys.executable, "-m", "pip", "install", *offline, f"--find-links={wheels}", "--upgrade")
        run(*install, *wanted, "--target", packages, wheels / wheel.name)
    else:
        quiet = (*offline, "--no-warn-script-location", "--break-system-packages", "--find-links=/wheels")
        run(*python, "-m", "pip", "install", *quiet, f"/wheels/{wheel.name}")
    return demonstrate(*python)


def entering(root: Path, machine: str, libc: str, wheels: Path, *, emulated: bool) -> list[str | Path]:
    """The command of a root's Python, in that root."""
    bound = {wheels: "/wheels", ROOT / "examples": "/project/examples", Path(pip.__path__[0]): "/pip/pip"}
    emulator = [f"/{machine}"] if emulated else []
    if emulated:
        bound[Path(shutil.which(f"qemu-{machine}-static") or "")] = f"/{machine}"
    places = [word for outside, inside in bound.items() for word in ("--ro-bind", str(outside), inside)]
    system = ["--bind", str(root), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *places]
    variables = ["--clearenv", "--setenv", "HOME", "/tmp", "--setenv", "PYTHONPATH", "/pip", "--chdir", "/project"]
    return ["bwrap", "--unshare-all", *system, *variables, *emulator, f"/usr/bin/python{PYTHON[libc]}"]


def debian_root(machine: str, folder: Path) -> Path:
    """A packed Debian with Python."""
    packed = folder / "root.tar"
    wanted = ("--variant=extract", "--include=python3", f"--architectures={DEBIAN_MACHINES[machine]}", DEBIAN["gnu"])
    run("mmdebstrap", "--quiet", *wanted, packed)
    return packed


def musl_root(machine: str) -> Path:
    """A packed root of musl's loader and CPython, and nothing else. Made once."""
    packed, folder = MUSL / f"{machine}.tar", MUSL / machine
    if packed.exists():
        return packed
    unpack_sources()
    own = build_python("own", "OPT=-O1")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    cross = (f"--host={machine}-linux-musl", f"--build={run(MUSL / 'python' / 'config.guess').strip()}")
    answers = ("--disable-ipv6", "ac_cv_file__dev_ptmx=yes", "ac_cv_file__dev_ptc=no")  # configure cannot try there
    options = (*cross, f"--with-build-python={own}", *answers, *compiled_by_zig(machine, folder))
    build_python(f"{machine}/build", *options, PKG_CONFIG_LIBDIR="/nowhere")  # no library of this machine
    root = folder / "root"
    run("make", "--directory", folder / "build", "--silent", "install", f"DESTDIR={root}")
    [package] = MUSL.glob(f"musl_*_{DEBIAN_MACHINES[machine]}.deb")
    run("dpkg-deb", "--extract", package, folder / "loader")
    (root / "lib").mkdir()
    shutil.copy(next((folder / "loader").rglob("libc.so")), root / "lib" / f"ld-musl-{machine}.so.1")
    unfinished = packed.with_suffix(".part")
    run("tar", "--create", "--file", unfinished, "--directory", root, ".")
    return unfinished.rename(packed)


def compiled_by_zig(machine: str, folder: Path) -> list[str]:
    """The options of CPython's configure that have zig compile for musl, with a zlib that is made in the folder."""
    import ziglang  # only what is built here needs it

    zig = str(Path(ziglang.__file__).with_name("zig"))
    compiler, sources = f"{zig} cc -target {machine}-linux-musl", MUSL / "zlib"
    flags = (*OPTIMIZE.split(), "-DHAVE_UNISTD_H")
    run("env", f"--chdir={folder}", *compiler.split(), *flags, "-c", *sorted(sources.glob("*.c")))
    run(zig, "ar", "rcs", folder / "libz.a", *sorted(folder.glob("*.o")))
    tools = [f"CC={compiler}", f"AR={zig} ar", f"RANLIB={zig} ranlib", f"OPT={OPTIMIZE}", "LDFLAGS=-dynamic -s"]
    return [*tools, f"ZLIB_CFLAGS=-I{sources}", f"ZLIB_LIBS={folder / 'libz.a'}"]


def unpack_sources() -> None:
    """The sources of Python and zlib, and the packages of musl, by apt with lists of its own."""
    if (MUSL / "zlib").exists():
        return
    for name in ("lists/partial", "cache/archives/partial", "python", "new"):
        (MUSL / name).mkdir(parents=True, exist_ok=True)
    machines = ",".join(DEBIAN_MACHINES.values())
    place = f"{debian_archive()} {DEBIAN['musl']} main"
    lists = MUSL / "sources.list"
    lists.write_text(f"deb [arch={machines} signed-by={KEYS}] {place}\ndeb-src [signed-by={KEYS}] {place}\n")
    folders = (f"Dir::Etc::sourcelist={lists}", "Dir::Etc::sourceparts=-", f"Dir::State::lists={MUSL / 'lists'}")
    settings = (*folders, f"Dir::Cache={MUSL / 'cache'}", "APT::Sandbox::User=root")
    apt = ("env", f"--chdir={MUSL}", "apt-get", "--quiet=2", *(f"--option={setting}" for setting in settings))
    run(*apt, "update")
    run(*apt, "source", "--download-only", "--tar-only", f"python{PYTHON['musl']}", "zlib")
    run(*apt, "download", *(f"musl:{name}" for name in DEBIAN_MACHINES.values()))
    for name, archive in (("python", f"python{PYTHON['musl']}_*.orig.tar.*"), ("new", "zlib_*.orig.tar.*")):
        [packed] = (path for path in MUSL.glob(archive) if path.suffix != ".asc")
        run("tar", "--extract", "--strip-components=1", "--file", packed, "--directory", MUSL / name)
    (MUSL / "new").rename(MUSL / "zlib")  # the last one: now all are there


def debian_archive() -> str:
    """The archive of Debian that apt has on this machine."""
    wanted = ("Origin: Debian", "Label: Debian", "Created-By: Packages")
    archives = run("apt-get", "indextargets", "--format", "$(REPO_URI)", *wanted).split()
    return archives[0] if archives else sys.exit("apt has no archive of Debian here: run apt-get update on a Debian.")


def build_python(name: str, *options: str, **more: str) -> Path:
    """Build CPython in a folder, which stays; its interpreter."""
    folder = MUSL / name
    if not (folder / "built").exists():
        folder.mkdir(parents=True, exist_ok=True)
        plain = (
            "--quiet",
            "--prefix=/usr",
            "--disable-test-modules",
            "--without-ensurepip",
            "--without-static-libpython",
        )
        run("env", f"--chdir={folder}", MUSL / "python" / "configure", *plain, *options, **more)
        run("make", "--directory", folder, "--silent", f"--jobs={os.cpu_count() or 1}")
        (folder / "built").touch()
    return folder / "python"
