"""Penstock: Flink-style DataStream programs in Python, planned exactly as Apache Flink does, run on Apache Spark.

Importing this package is cheap on purpose: neither pyspark nor pyarrow nor the native planner is loaded before it is
used.
"""

from __future__ import annotations

from penstock.errors import PenstockError

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
