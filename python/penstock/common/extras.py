"""Libraries that only some programs need, which extras of the package install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.errors import ConfigurationError


def library(module: str, extra: str, what: str) -> Any:
    """A module of an optional library."""
    try:
        return import_module(module)
    except ImportError as error:
        raise lacking(f"{what} needs the library {module}, which cannot be imported here", extra, error) from error


def fastavro() -> Any:
    """The library for Avro; :func:`library` says what it raises."""
    return library("fastavro", "avro", "Avro")


def lacking(what: str, extra: str, error: ImportError) -> ConfigurationError:
    """The error where an optional library is not there."""
    return ConfigurationError(
        f"{what}: {error}. Install it on the driver and where tasks run: pip install 'penstock[{extra}]'."
    )
