"""The names of PyFlink's ``pyflink.datastream.formats.orc``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.bulk_writer import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.datastream.formats import OrcBulkWriters
from penstock.pyflink.deviating import Configuration, get_gateway, to_jarray
from penstock.pyflink.missing import create_hadoop_configuration, create_java_properties

__all__ = [
    "BulkWriterFactory",
    "Configuration",
    "OrcBulkWriters",
    "RowDataBulkWriterFactory",
    "create_hadoop_configuration",
    "create_java_properties",
    "get_gateway",
    "to_jarray",
]
