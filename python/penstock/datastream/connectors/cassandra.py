"""PyFlink's sink for Cassandra, which is planned only (``pyflink.datastream.connectors.cassandra``)."""

from __future__ import annotations

from typing import Any

from penstock.common import checks
from penstock.datastream.connectors.described import described
from penstock.datastream.connectors.planned import CassandraWriter

__all__ = ["CassandraSink"]

_Settings: type[Any] = described(
    "CassandraSinkBuilder : +() set_query(query) set_host(host,port=) set_cluster_builder(builder) "
    "set_mapper_options(options) enable_write_ahead_log(committer=) set_failure_handler(failure_handler) "
    "set_max_concurrent_requests(max_concurrent_requests,duration=) enable_ignore_null_fields()"
)["CassandraSinkBuilder"]


class CassandraSink:
    """The end of a stream that Cassandra would take. Made by :meth:`add_sink`; ``execute`` refuses it.

    Args:
        sink: what the stream's ``add_sink`` has given.
    """

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    @staticmethod
    def add_sink(input: Any) -> CassandraSink.CassandraSinkBuilder:
        """Settings of a sink before it is added.

        Args:
            input: the stream.
        """
        if not hasattr(input, "add_sink"):
            checks.refuse(f"CassandraSink.add_sink() was given {checks.shown(input)}. Give a stream.")
        return CassandraSink.CassandraSinkBuilder(input)

    def name(self, name: str) -> CassandraSink:
        """Set the operator's name."""
        self._sink.name(name)
        return self

    def uid(self, uid: str) -> CassandraSink:
        """Set the operator's uid."""
        self._sink.uid(uid)
        return self

    def set_uid_hash(self, uid_hash: str) -> CassandraSink:
        """Set the operator's ID."""
        self._sink.set_uid_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> CassandraSink:
        """Set the operator's parallelism."""
        self._sink.set_parallelism(parallelism)
        return self

    def disable_chaining(self) -> CassandraSink:
        """Keep the operator out of chains."""
        self._sink.disable_chaining()
        return self

    def slot_sharing_group(self, slot_sharing_group: Any) -> CassandraSink:
        """Set the operator's slot sharing group."""
        self._sink.slot_sharing_group(slot_sharing_group)
        return self

    class CassandraSinkBuilder(_Settings):
        """Settings of a :class:`CassandraSink`. Methods change it and return it.

        Args:
            input: the stream.
        """

        def __init__(self, input: Any) -> None:
            self.given: dict[str, Any] = {}
            self._input = input

        def build(self) -> CassandraSink:
            """Add the sink to the stream."""
            writer = CassandraWriter()
            writer.given = {**self.given}
            return CassandraSink(self._input.add_sink(writer).name("Cassandra Sink"))
