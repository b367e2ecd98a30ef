"""Key groups: which subtask owns a key. The Java hash of a key is hashed again with murmur and taken modulo the maximum
parallelism; subtask i of p owns a range of these groups. All of this equals Flink's ``KeyGroupRangeAssignment`` (1.11)
to the bit, and must never change."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import TypeInfoError
from penstock.runtime.buffers.codec import text_size
from penstock.runtime.keys.key_types import KeyHash

_MASK = 0xFFFFFFFF
CACHE_BYTES = 64 << 20  # size of the cache of channels by key; a full cache is cleared
_ENTRY = 120  # bytes per cached key besides its texts


def murmur(hash_code: int) -> int:
    """One round of 32-bit MurmurHash3 over a hash code, made non-negative as Flink does."""
    k = hash_code * 0xCC9E2D51 & _MASK
    k = (k << 15 | k >> 17) & _MASK
    k = k * 0x1B873593 & _MASK
    k = (k << 13 | k >> 19) & _MASK
    h = (k * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h ^= h >> 16
    h = h * 0x85EBCA6B & _MASK
    h ^= h >> 13
    h = h * 0xC2B2AE35 & _MASK
    h ^= h >> 16
    if h < 0x80000000:
        return h
    return 0x100000000 - h if h != 0x80000000 else 0


def key_group_of_hash(hash_code: int, max_parallelism: int) -> int:
    """The key group of a Java hash code, 0 … max_parallelism − 1."""
    return murmur(hash_code) % max_parallelism


def subtask_of_key_group(key_group: int, max_parallelism: int, parallelism: int) -> int:
    """The index of the subtask that owns a key group."""
    return key_group * parallelism // max_parallelism


def null_key() -> TypeInfoError:
    """The error for a key that is None."""
    return TypeInfoError(
        "A key selector returned None: a key must not be null, because it decides where a record goes. Return a "
        "default key such as '', or filter these records before key_by.",
        flink_class="java.lang.NullPointerException",
    )


def assign_to_key_group(key: Any, max_parallelism: int, key_hash: KeyHash) -> int:
    """The key group of a key."""
    if key is None and not key_hash.nullable:
        raise null_key()
    return murmur(key_hash.hash(key)) % max_parallelism


_ASSIGN = """def assign(value):
    if {look}:
        channel = cached(value)
        if channel is not None:
            return channel
    return otherwise(value)
"""


class ChannelAssigner:
    """Maps keys to subtasks, with a bounded cache by canonical key."""

    def __init__(self, key_hash: KeyHash, max_parallelism: int, channels: int) -> None:
        self._key_hash, self._checked = key_hash, key_hash.checked
        self._max_parallelism, self._channels = max_parallelism, channels
        self._room = CACHE_BYTES
        self.cache: dict[Any, int] = {}
        look, names = key_hash.plain
        code = compile(_ASSIGN.format(look=look), __file__, "exec")
        exec(code, names := {**names, "cached": self.cache.get, "otherwise": self._assign})
        self.assign: Callable[[Any], int] = names["assign"]

    def assign_all(self, keys: list[Any]) -> list[int]:
        """The subtasks of many keys. A failure is that of the first key that has one."""
        if keys and set(map(type, keys)) == {self._key_hash.plain_kind}:
            if self._channels == 1 and self._are_accepted(keys):
                return [0] * len(keys)
            channels = list(map(self.cache.get, keys))
            return [self.assign(key) if at is None else at for key, at in zip(keys, channels, strict=True)]
        return list(map(self.assign, keys))

    def _are_accepted(self, keys: list[Any]) -> bool:
        """Whether none of these keys, all of the plain kind, is refused, as far as it can be told at once."""
        if type(keys[0]) is int:  # what lies between two that are accepted is, too
            return min(keys) in self.cache and max(keys) in self.cache
        return type(keys[0]) is str and self._key_hash.takes_any_text

    def _assign(self, key: Any) -> int:
        form = self._checked(key)
        channel = self.cache.get(form)
        if channel is None:
            group = assign_to_key_group(key, self._max_parallelism, self._key_hash)
            channel = subtask_of_key_group(group, self._max_parallelism, self._channels)
            self._room -= _ENTRY + text_size(form)
            if self._room < 0:
                self.cache.clear()
                self._room = CACHE_BYTES - _ENTRY - text_size(form)
            self.cache[form] = channel
        return channel
