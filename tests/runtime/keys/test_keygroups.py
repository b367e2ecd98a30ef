from __future__ import annotations

import gzip
import json
import struct
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock.common import Row, RowKind, Types
from penstock.errors import TypeInfoError
from penstock.plan.shapes import forward_chain
from penstock.runtime.keys import keygroups
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.keys.keygroups import (
    ChannelAssigner,
    assign_to_key_group,
    key_group_of_hash,
    subtask_of_key_group,
)

GOLDEN = json.loads(gzip.decompress((Path(__file__).parents[2] / "golden" / "keygroups.json.gz").read_bytes()))

DECLARED = {
    "String": Types.STRING(),
    "Integer": Types.INT(),
    "Long": Types.LONG(),
    "Short": Types.SHORT(),
    "Byte": Types.BYTE(),
    "Boolean": Types.BOOLEAN(),
    "Character": Types.CHAR(),
    "Double": Types.DOUBLE(),
    "Float": Types.FLOAT(),
    "BigDecimal": Types.BIG_DEC(),
    "BigInteger": Types.BIG_INT(),
}


def value_of(vector):
    kind, value = vector["type"], vector.get("value")
    if kind == "null":
        return None
    if kind == "Double":
        return struct.unpack(">d", bytes.fromhex(vector["bits"]))[0] if "bits" in vector else float(value)
    if kind == "Float":
        return struct.unpack(">f", bytes.fromhex(vector["bits"]))[0] if "bits" in vector else float(value)
    if kind == "BigDecimal":
        unscaled, scale = int(vector["unscaled"]), int(vector["scale"])
        return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale))
    if kind == "BigInteger":
        return int(value)
    if kind.startswith("Tuple"):
        return tuple(map(value_of, value))
    if kind == "ArrayList":
        return list(map(value_of, value))
    if kind == "Row":
        return Row.of_kind(RowKind[vector.get("row_kind", "INSERT")], *map(value_of, value))
    if kind == "byte[]":
        return bytes.fromhex(value) if isinstance(value, str) else bytes(b & 255 for b in value)
    return value


def declared_type(vector):
    kind = vector["type"]
    if kind in DECLARED:
        return DECLARED[kind]
    inner = vector["value"]
    if kind.startswith("Tuple") and all(f["type"] in DECLARED for f in inner):
        return Types.TUPLE([DECLARED[f["type"]] for f in inner])
    if kind == "Row" and inner and all(f["type"] in DECLARED for f in inner):
        return Types.ROW([DECLARED[f["type"]] for f in inner])
    return None


def test_every_vector():
    declared = undeclared = 0
    for vector in GOLDEN["vectors"]:
        value = value_of(vector)
        key_type = declared_type(vector)
        candidates = [KeyHash(key_type)] if key_type is not None else []
        if _undeclared_agrees(vector):
            candidates.append(KeyHash())
            undeclared += 1
        assert candidates, vector
        declared += key_type is not None
        for key_hash in candidates:
            assert key_hash.hash(value) == vector["java_hash"], vector
            for maximum, group in vector["key_group"].items():
                assert assign_to_key_group(value, int(maximum), key_hash) == group, vector
            for p, subtask in vector["subtask"].items():
                parallelism, maximum = (int(x.split("=")[1]) for x in p.split(","))
                assert ChannelAssigner(key_hash, maximum, parallelism).assign(value) == subtask, vector
    assert declared + undeclared > 244
    assert declared > 200


def _undeclared_agrees(vector):
    """An undeclared value hashes like the Java class it stands for."""
    kind = vector["type"]
    if kind in ("Row", "ArrayList") or kind.startswith("Tuple"):
        return all(_undeclared_agrees(f) for f in vector["value"])
    if kind in ("Integer", "Short", "Byte"):
        return vector["value"] >= 0
    if kind == "BigInteger":
        return not -(2**63) <= int(vector["value"]) < 2**63
    return kind in ("String", "Long", "Boolean", "Double", "BigDecimal", "null", "byte[]")


def test_key_groups_of_hashes():
    section, count = GOLDEN["key_group_of_hash"], 0
    groups = {k: v for k, v in section.items() if isinstance(v, (dict, list))}
    for value in groups.values():
        pairs = value.items() if isinstance(value, dict) else value
        for pair in pairs:
            h, group = pair if not isinstance(pair, dict) else (pair["hash"], pair["key_group"])
            assert key_group_of_hash(int(h), 32768) == group
            count += 1
    assert count > 10


def planned_max_parallelism(parallelism: int) -> int:
    graph = forward_chain(2, parallelism=parallelism).job_graph().execution_graph()
    return graph.vertices[0].max_parallelism


def test_default_max_parallelism():
    section = GOLDEN["default_max_parallelism"]
    assert {p: planned_max_parallelism(int(p)) for p in section} == section
    assert len(section) > 200


def test_key_group_ranges():
    count = 0
    for entry in GOLDEN["key_group_ranges"]:
        maximum = entry.get("max_parallelism", entry.get("max"))
        parallelism = entry["parallelism"]
        for subtask, (first, last) in enumerate(entry["ranges"]):
            assert {subtask_of_key_group(g, maximum, parallelism) for g in range(first, last + 1)} <= {subtask}
            count += 1
    assert count > 40


def test_the_exception_class_of_flink():
    with pytest.raises(TypeInfoError) as null:
        assign_to_key_group(None, 128, KeyHash())
    assert null.value.flink_class in {e["class"] for e in GOLDEN["errors"]}


@dataclass
class Mutable:
    """Not frozen, so it has no hash."""

    a: int


@pytest.mark.parametrize(
    ("key", "advice"),
    [
        ({1, 2}, "sorted tuple"),
        ({"a": 1}, "sorted tuple"),
        (object(), "tuple of its fields"),
        (memoryview(b"ab"), r"bytes\(key\)"),
        ((1, {2}), "sorted"),
        (Mutable(1), "frozen=True"),
    ],
)
def test_keys_without_a_stable_hash_are_refused_with_advice(key, advice):
    with pytest.raises(TypeInfoError, match=advice):
        KeyHash().hash(key)


def test_equal_in_python_is_not_equal_in_java():
    canonical = KeyHash().canonical
    keys = [
        1,
        True,
        1.0,
        Decimal(1),
        Decimal("1.0"),
        (1,),
        [1],
        Row(1),
        (True,),
        (1.0,),
        "1",
        0.0,
        -0.0,
        0,
        False,
        (0.0,),
        (-0.0,),
    ]
    assert len({canonical(k) for k in keys}) == len(keys)
    assert canonical(float("nan")) == canonical(float("nan"))
    assign = ChannelAssigner(KeyHash(), 128, 128).assign
    expected = [assign_to_key_group(k, 128, KeyHash()) for k in keys]
    assert [assign(k) for k in keys] == expected
    assert [assign(k) for k in keys] == expected  # from the cache


def test_equal_tuples_and_texts_are_one_key():
    class Pair(NamedTuple):
        a: object
        b: object

    class Text(str):
        pass

    canonical = KeyHash().canonical
    assert canonical(Pair("x", 1)) == canonical(("x", 1)) == canonical((Text("x"), 1))
    assert canonical(((1, 2.0), 3)) == canonical(Pair(Pair(1, 2.0), 3)) != canonical(((1, 2), 3))
    assert canonical(((1, 2), 3)) != canonical(([1, 2], 3))


def test_declared_ints_differ_from_undeclared_ones():
    assert KeyHash(Types.INT()).hash(-7) == -7
    assert KeyHash().hash(-7) == KeyHash(Types.LONG()).hash(-7) == 6
    with pytest.raises(TypeInfoError, match="does not fit"):
        KeyHash(Types.INT()).hash(2**31)
    with pytest.raises(TypeInfoError, match="declared as"):
        KeyHash(Types.INT()).hash("a")


@pytest.mark.parametrize("width", [10, 1000])
def test_a_cache_of_channels_is_bounded_by_bytes(width, monkeypatch):
    monkeypatch.setattr(keygroups, "CACHE_BYTES", 100_000)
    assigner = ChannelAssigner(KeyHash(), 128, 7)
    sizes = []
    for number in range(3000):
        key = f"{number:0{width}}"
        group = assign_to_key_group(key, 128, KeyHash())
        assert [assigner.assign((key, 1)), assigner.assign(key)][1] == subtask_of_key_group(group, 128, 7)
        sizes.append(sum(len(form if isinstance(form, str) else form[0]) + 100 for form in assigner.cache))
    assert 50_000 < max(sizes) <= 100_000
