"""The encoders and bucket assigners that native code takes the place of."""

from __future__ import annotations

import codecs
from typing import Any

from penstock.common.serialization import SimpleStringEncoder
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.files.buckets import BasePathBuckets, DateTimeBuckets
from penstock.connectors.formats.json import JsonLinesEncoder
from penstock.runtime.columns.layouts import Layout, text_layout


def row_layout(encoder: Any, type_info: TypeInformation[Any] | None) -> Layout | None:
    """How native code writes records of a type as an encoder does; None if it does not."""
    if type(encoder) is SimpleStringEncoder:
        utf8 = codecs.lookup(encoder.charset_name).name == "utf-8"
        return text_layout(type_info, "\n") if utf8 else None
    return encoder.layout if type(encoder) is JsonLinesEncoder else None


def takes_columns(factory: Any) -> bool:
    """Whether the writers that a factory makes take native batches; those of derived classes do not."""
    return bool(vars(type(factory)).get("takes_columns"))


def is_of_the_clock(assigner: Any) -> bool:
    """Whether the bucket does not depend on the record: then it is asked for once for a batch."""
    return type(assigner) in (BasePathBuckets, DateTimeBuckets)
