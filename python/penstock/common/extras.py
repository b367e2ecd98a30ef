"""Libraries that only some programs need, which extras of the package install."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from penstock.errors import ConfigurationError, UnsupportedError


def library(module: str, extra: str, what: str) -> Any:
    """A module of an optional library."""
    try:
        return import_module(module)
    except ImportError as error:
        raise lacking(f"{what} needs the library {module}, which cannot be imported here", extra, error) from error


def fastavro() -> Any:
    """The library for Avro; :func:`library` says what it raises."""
    return library("fastavro", "avro", "Avro")


def pyspark(what: str) -> Any:
    """PySpark, which is Spark's own on a cluster.

    Args:
        what: the start of the message where there is none, a sentence without its end.

    Raises:
        ConfigurationError: it cannot be imported, or another module has its name.
        UnsupportedError: this is Windows.
    """
    if sys.platform == "win32":
        raise UnsupportedError(
            f"{what}, and on Windows Penstock does not use Spark. Run the program on Linux or macOS, under WSL say. Or "
            f"run it {_WITHOUT_SPARK}"
        )
    try:
        module = import_module("pyspark")
    except ImportError as error:
        raise ConfigurationError(f"{what}, and PySpark cannot be imported here: {error}. {_WITH_SPARK}") from error
    if not hasattr(module, "__version__"):
        places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
        place = next(filter(None, places), "nowhere")
        raise ConfigurationError(
            f"{what}, and the module pyspark that is imported here, from {place!r}, is not PySpark. Rename that file "
            f"or folder. Is there no PySpark? {_WITH_SPARK}"
        )
    return module


_WITHOUT_SPARK = (
    'without Spark: executor="local", the setting penstock.executor=local, PENSTOCK_EXECUTOR=local, or penstock run '
    "--local."
)
_WITH_SPARK = (
    "Install it: pip install 'penstock[spark]'; on a platform that has a Spark (Databricks, EMR, Dataproc), start the "
    f"program with the Python of the platform or by its spark-submit instead. Or run the program {_WITHOUT_SPARK}"
)


def lacking(what: str, extra: str, error: ImportError) -> ConfigurationError:
    """The error where an optional library is not there."""
    return ConfigurationError(
        f"{what}: {error}. Install it on the driver and where tasks run: pip install 'penstock[{extra}]'."
    )
