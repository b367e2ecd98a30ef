"""NaN as a key of a map equals itself, as in Java's ``Double.equals``; other keys compare as in Python. A key that
contains NaN, alone or in tuples and rows, is stored with one single NaN object, by which a dict finds it. If it is not
found by that, as after a restore, all keys of the map are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from penstock.common.row import Row, names_of

_WITHOUT = (int, str, bytes, bool, type(None))
_NAN = math.nan


def key_in(entries: Mapping[Any, Any], key: Any) -> Any:
    """The key that a map uses, or would use, for a key."""
    kind = type(key)
    if kind in _WITHOUT or not _has_nan(key):
        return key
    normal = _with_one_nan(key)
    if normal in entries:
        return normal
    alike = (
        candidate
        for candidate in reversed([*entries])
        if _has_nan(candidate) and (_with_one_nan(candidate),) == (normal,)
    )
    return next(alike, normal)


def _has_nan(key: Any) -> bool:
    waiting = [key]
    while waiting:
        part = waiting.pop()
        if isinstance(part, float):
            if part != part:
                return True
        elif isinstance(part, tuple | Row):
            waiting.extend(part)
    return False


def _with_one_nan(key: Any) -> Any:
    if isinstance(key, float):
        return _NAN if key != key else key
    if isinstance(key, Row):
        return Row.of_values([_with_one_nan(part) for part in key], names_of(key), key.get_row_kind())
    if not isinstance(key, tuple):
        return key
    parts = map(_with_one_nan, key)
    return type(key)._make(parts) if hasattr(key, "_make") else tuple(parts)  # type: ignore[attr-defined]
