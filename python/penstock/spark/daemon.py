"""Spark's Python daemon with everything loaded that our workers need: they are forked, and begin at once. With Spark's
own each imports pyarrow, compiles PySpark out of ``pyspark.zip``, and reads all archives on its path before a task."""

from __future__ import annotations

import gc
import importlib
import importlib.util
import os
import sys

from penstock.spark.affinity import Register, Worker
from penstock.spark.inside_pyspark import ARCHIVES, WORKER, fork_workers

MODULES = ("pyarrow", WORKER, "penstock.runtime.task.task", "penstock.spark.lowering", "penstock.datastream")


def main() -> None:
    """Load, then do what Spark's own daemon does."""
    forget_archives()
    for module in MODULES:
        importlib.import_module(module)
    gc.freeze()  # workers collect garbage after every task; what is loaded here is none
    register = Register()
    fork_workers(lambda connection, run: Worker(register, connection, run).serve(), register.kill)


def forget_archives() -> None:
    """Import nothing from Spark's archives, if their Python code is installed as well."""
    before = list(sys.path)
    archives = tuple(entry for entry in before if os.path.basename(entry).startswith(ARCHIVES))
    sys.path[:] = [entry for entry in before if entry not in archives]
    if not all(map(importlib.util.find_spec, ("pyspark", "py4j"))):
        sys.path[:] = before
        return
    for entry in [known for known in sys.path_importer_cache if known.startswith(archives)]:
        del sys.path_importer_cache[entry]


if __name__ == "__main__":
    main()
