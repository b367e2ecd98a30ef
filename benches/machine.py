"""What a run of the benches ran on."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
from pathlib import Path

import engines

LIBRARIES = ("pyspark", "pyarrow", "numpy", "rustworkx", "networkx", "mmh3")


def describe() -> dict[str, str]:
    """Processor, memory, and the versions of everything that was measured."""
    facts = {
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
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
    found = re.search(r"\d+\.\d+[\w.+]*", answer)
    return found[0] if found else "unknown"
