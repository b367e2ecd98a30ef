"""Connectors under PyFlink's names: the sources and sinks of a program, implemented in :mod:`penstock.connectors`. A
custom source is a subclass of :class:`Source`."""

from __future__ import annotations

from typing import NoReturn

from penstock.datastream.connectors import file_system, kafka
from penstock.datastream.connectors.base import Sink, StreamTransformer, SupportsPreprocessing
from penstock.datastream.connectors.datagen import DataGeneratorSource, NumberSequenceSource, RateLimiterStrategy
from penstock.datastream.connectors.file_system import *
from penstock.datastream.connectors.hybrid_source import HybridSource, HybridSourceBuilder
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcExecutionOptions, JdbcSink
from penstock.datastream.connectors.kafka import *
from penstock.datastream.connectors.spark import SparkSink
from penstock.datastream.sinks import TwoPhaseCommitSink
from penstock.errors import UnsupportedError
from penstock.runtime.io.splits import Records, Source, Split

__all__ = [
    "DataGeneratorSource",
    "HybridSource",
    "HybridSourceBuilder",
    "JdbcConnectionOptions",
    "JdbcExecutionOptions",
    "JdbcSink",
    "NumberSequenceSource",
    "RateLimiterStrategy",
    "Records",
    "Sink",
    "Source",
    "SparkSink",
    "Split",
    "StreamTransformer",
    "SupportsPreprocessing",
    "TwoPhaseCommitSink",
]
__all__ += file_system.__all__
__all__ += kafka.__all__

_PLANNED = ("Cassandra", "DynamicKafka", "Elasticsearch", "FlinkKinesis", "Kinesis", "Pulsar", "RMQ")
"""Prefixes of the connectors that can be planned but not run."""


def __getattr__(name: str) -> NoReturn:
    """Refuse a connector that can only be planned, and name its module."""
    if name.startswith(_PLANNED):
        raise UnsupportedError(
            f"{name} of penstock.datastream.connectors has moved: it cannot run here. To plan a program with it, "
            "import it from PyFlink's module below penstock.pyflink.datastream.connectors."
        )
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
