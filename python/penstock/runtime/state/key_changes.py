"""Keys whose declared type has changed: they stay where they are, or nothing is read.

A key's hash decides in which key group it is, and so in which subtask. A type under which the keys that are there have
the hashes that they had is as good as the old one; any other would look for their state where it is not.

Cost: nothing where the type is the same; a hash by each type for each key where it is not.
"""

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

Check = Callable[[Iterable[Any]], None]


def key_check(before: str, key_hash: KeyHash) -> Check | None:
    """What looks at keys that were written under another type; None where it is the same.

    Args:
        before: the type, as the header has it.
        key_hash: that of today.

    Raises:
        Refusal: no key of the one is a key of the other; what is returned raises it for a key that moves.
    """
    new = key_hash.key_type
    now = "" if new is None else repr(new)
    if before == now:
        return None
    said = f"the keys were declared {before or 'as nothing'} and are {now or 'not declared'} now"
    try:
        old = type_of(before)
    except ValueError as error:
        raise Refusal(f"{said}: {error}") from error
    if not _alike(old, new):
        raise Refusal(said)
    old_hash = KeyHash(old)

    def check(keys: Iterable[Any]) -> None:
        for key in keys:
            try:
                same = _fits(key, new) and key_hash.hash(key) == old_hash.hash(key)
            except TypeInfoError as error:
                raise Refusal(f"{said}, and the key {key!r} is none: {error}") from error
            if not same:
                raise Refusal(f"{said}: the key {key!r} would be another, in another key group")

    return check


def _alike(old: TypeInformation[Any] | None, new: TypeInformation[Any] | None) -> bool:
    """Whether a value can be of both types."""
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


def _fits(key: Any, new: TypeInformation[Any] | None) -> bool:
    """Whether a row has its fields in the order of its type, in which they are hashed."""
    return not (isinstance(key, Row) and isinstance(new, RowTypeInfo)) or names_of(key) in (None, new.field_names)
