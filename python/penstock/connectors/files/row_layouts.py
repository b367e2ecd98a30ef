"""The encoders and bucket assigners that native code takes the place of."""

from __future__ import annotations

import codecs
from types import ModuleType
from typing import Any

from penstock.common.serialization import SimpleStringEncoder
from penstock.common.typeinfo import TypeInformation
from penstock.connectors.files.buckets import BasePathBuckets, DateTimeBuckets
from penstock.connectors.formats.json import JsonLinesEncoder
from penstock.runtime.columns.layouts import Layout, text_layout, why_uncompiled


def row_layout(encoder: Any, type_info: TypeInformation[Any] | None) -> Layout | None:
    """How native code writes records of a type as an encoder does; None if it does not."""
    if type(encoder) is SimpleStringEncoder:
        return text_layout(type_info, "\n") if _is_utf8(encoder) else None
    return encoder.layout if type(encoder) is JsonLinesEncoder else None


def _is_utf8(encoder: SimpleStringEncoder) -> bool:
    return codecs.lookup(encoder.charset_name).name == "utf-8"


def why_encoded(functions: ModuleType, encoder: Any, type_info: TypeInformation[Any] | None) -> str:
    """Why an encoder is called for each record of a type; "" where native code takes its place."""
    name = type(encoder).__name__
    if type(encoder) is JsonLinesEncoder:
        reason = f"native code does not write all types of the {name} as JSON"
    elif type(encoder) is SimpleStringEncoder and not _is_utf8(encoder):
        reason = f"its charset is {encoder.charset_name}, and native code writes UTF-8"
    elif type(encoder) is SimpleStringEncoder:
        reason = f"native code does not write {type_info!r} as text"
    else:
        reason = f"its encoder {name} is called for each record"
    return why_uncompiled(functions, row_layout(encoder, type_info), reason)


def why_added(factory: Any) -> str:
    """Why the writers that a factory makes are given objects, as those of derived classes are; "" where they take
    native batches."""
    takes = vars(type(factory)).get("takes_columns")
    return "" if takes else f"the writers of its {type(factory).__name__} take objects"


def why_asked(assigner: Any) -> str:
    """Why the bucket of each record is asked for; "" where it does not depend on the record, and is asked for once for
    a batch."""
    return "" if type(assigner) in (BasePathBuckets, DateTimeBuckets) else "its bucket depends on the record"
