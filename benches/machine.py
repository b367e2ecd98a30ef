"""What a run of the benches ran on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

import engines
from results import ROOT

LIBRARIES = ("pyspark", "pyarrow", "numpy", "rustworkx", "networkx", "mmh3")


def describe() -> dict[str, str]:
    """Processor, memory, and the versions of everything that was measured."""
    facts = {
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "Python": platform.python_version(),
        "Rust": first_version("rustc", "--version"),
        "Java": first_version("java", "-version"),
    }
    facts["JVM heap"] = os.environ.get("PENSTOCK_BENCH_HEAP", "8g")
    for library in LIBRARIES:
        facts[library] = importlib.metadata.version(library)
    for engine in engines.REQUIREMENTS:
        facts[engine] = engines.version(engine)
    return facts


def commit() -> str:
    """Of this checkout, with a ``+`` where files have changed since."""
    git = ["git", "-C", str(ROOT)]
    try:
        head = subprocess.check_output([*git, "rev-parse", "--short", "HEAD"], stderr=subprocess.DEVNULL, text=True)
        changed = subprocess.check_output([*git, "status", "--porcelain", "--untracked-files=no"], text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.strip() + ("+" if changed else "")


def processor() -> str:
    """The name the processor gives itself."""
    try:
        return re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)[0]
    except (OSError, IndexError):
        return platform.processor() or "unknown"


def first_version(*command: str) -> str:
    """The first thing in a program's answer that looks like a version."""
    try:
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return "none"
    match = re.search(r"\d+\.\d+[\w.+]*", answer)
    return match[0] if match else "unknown"
