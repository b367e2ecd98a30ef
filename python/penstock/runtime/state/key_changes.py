"""Checks keys whose declared type has changed: they keep their places, or the restore is refused. A new type is
accepted if the existing keys have the same hashes under it; else their state would not be found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.row import Row, names_of
from penstock.common.typeinfo import ListTypeInfo, MapTypeInfo, RowTypeInfo, TupleTypeInfo, TypeInformation
from penstock.errors import TypeInfoError
from penstock.runtime.buffers.value_checks import kind_of
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.type_changes import Refusal, is_undeclared
from penstock.runtime.state.type_texts import type_of

_IN_ROW = "InRow("  # the prefix of key types where `penstock.pyflink` is on

Check = Callable[[Iterable[Any]], None]


def key_check(before: str, key_hash: KeyHash) -> Check | None:
    """A check for keys that were written under another type; None if the type is the same."""
    new = key_hash.key_type
    now = "" if new is None else repr(new)
    if before == now:
        return None
    if before.startswith(_IN_ROW) is not now.startswith(_IN_ROW):
        raise Refusal(
            "the keys are in PyFlink's key groups, and the program uses Java's: set "
            "penstock.pyflink to true, as for a program of PyFlink's that runs with --pyflink"
            if before.startswith(_IN_ROW)
            else "the keys are in Java's key groups, and the program uses PyFlink's: set penstock.pyflink to false"
        )
    change = f"the keys were declared {before or 'as nothing'} and are {now or 'not declared'} now"
    try:
        old = type_of(before)
    except ValueError as error:
        raise Refusal(f"{change}: {error}") from error
    if not _alike(old, new):
        raise Refusal(change)
    old_hash = KeyHash(old)

    def check(keys: Iterable[Any]) -> None:
        for key in keys:
            try:
                # the fields of a row are hashed in the order of its type
                ordered = new.field_names if isinstance(key, Row) and isinstance(new, RowTypeInfo) else None
                fits = ordered is None or names_of(key) in (None, ordered)
                same = fits and key_hash.hash(key) == old_hash.hash(key)
            except TypeInfoError as error:
                raise Refusal(f"{change}, and the key {key!r} does not fit: {error}") from error
            if not same:
                raise Refusal(f"{change}: the key {key!r} would be in another key group")

    return check


def _alike(old: TypeInformation[Any] | None, new: TypeInformation[Any] | None) -> bool:
    if is_undeclared(old) or is_undeclared(new) or (kind_of(old) is not None and kind_of(new) is not None):
        return True
    if isinstance(old, TupleTypeInfo | RowTypeInfo) and type(old) is type(new):
        same = old.field_names == new.field_names  # type: ignore[union-attr]
        return same and all(map(_alike, old.field_types, new.field_types))  # type: ignore[union-attr]
    if isinstance(old, ListTypeInfo) and isinstance(new, ListTypeInfo):
        return _alike(old.element_type, new.element_type)
    if isinstance(old, MapTypeInfo) and isinstance(new, MapTypeInfo):
        return _alike(old.key_type, new.key_type) and _alike(old.value_type, new.value_type)
    return False
