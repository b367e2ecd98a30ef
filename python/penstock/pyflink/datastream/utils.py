"""The names of PyFlink's ``pyflink.datastream.utils``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.common.collection_types import (
    BasicArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
)
from penstock.common.record_types import RowTypeInfo, TupleTypeInfo
from penstock.common.row import Row, RowKind
from penstock.common.scalar_types import TypeInformation
from penstock.common.typeinfo import Types
from penstock.pyflink.deviating import Configuration, get_gateway
from penstock.pyflink.missing import (
    ExternalTypeInfo,
    ResultTypeQueryable,
    convert_to_python_obj,
    create_hadoop_configuration,
    create_java_properties,
    pickled_bytes_to_python_obj,
)

__all__ = [
    "BasicArrayTypeInfo",
    "Configuration",
    "ExternalTypeInfo",
    "ListTypeInfo",
    "MapTypeInfo",
    "ObjectArrayTypeInfo",
    "PrimitiveArrayTypeInfo",
    "ResultTypeQueryable",
    "Row",
    "RowKind",
    "RowTypeInfo",
    "TupleTypeInfo",
    "TypeInformation",
    "Types",
    "convert_to_python_obj",
    "create_hadoop_configuration",
    "create_java_properties",
    "get_gateway",
    "pickled_bytes_to_python_obj",
]
