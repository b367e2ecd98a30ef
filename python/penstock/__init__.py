"""Penstock: Flink-style DataStream programs in Python, planned exactly as Apache Flink does, run on Apache Spark.

Importing this package is cheap on purpose: neither pyspark nor pyarrow nor the native planner is loaded before it is
used.
"""

from __future__ import annotations

import os
import sys

from penstock.errors import PenstockError

if not os.path.isdir(os.path.dirname(__file__)):
    raise ImportError(
        f"Penstock is imported from {os.path.dirname(os.path.dirname(__file__))!r}, and that is a file: Python cannot "
        "load its native code out of a wheel or zip. Leave it out of --py-files; pip install it where the program runs "
        "(Spark's workers are sent it then), or pack an environment for --archives: docs/clusters.md has recipes.",
        name="penstock",
        path=__file__,
    )

from penstock._moved import MovedModules

sys.meta_path.append(MovedModules())

__version__: str
"""The version of the installed package; the one place where it is written is Cargo.toml."""

__all__ = ["PenstockError", "__version__"]


def __getattr__(name: str) -> str:
    """The version when it is asked for: reading a package's metadata takes longer than all else of this import."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version
    from pathlib import Path

    shipped = Path(__file__).with_name("shipped_version.txt")  # what Spark's workers are sent has no metadata
    return shipped.read_text() if shipped.exists() else version("penstock")
