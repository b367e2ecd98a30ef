"""Manifests as texts: what was written is read, and what was not is an error."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import CheckpointDirectoryError
from penstock.job.folder import manifest as module
from penstock.job.folder.manifest import (
    StepManifest,
    decoded,
    decoded_position,
    encoded,
    encoded_position,
)
from tests.job.folder.examples import SUM, everything

GOLDEN = Path(__file__).parent / "manifest-6.json"


class Offset(NamedTuple):
    partition: int
    offset: int


def test_what_was_written_is_read() -> None:
    assert decoded(encoded(everything()), 6, "m") == everything()
    nothing = StepManifest(1, "", "", 0)
    assert decoded(encoded(nothing), 1, "m") == nothing
    assert nothing.is_nothing
    assert not everything().is_nothing


def test_the_first_format_stays_readable() -> None:
    """The file was written once, and is not written anew."""
    assert decoded(GOLDEN.read_bytes(), 6, "m") == everything()


def test_it_can_be_read_without_penstock() -> None:
    head, body, end = encoded(everything()).split(b"\n")
    assert (json.loads(head)["format"], json.loads(head)["version"], end) == (1, 6, b"")
    assert json.loads(body)["sources"]["ab" * 16]["positions"]["part-0"] == [1, "two", None]


def test_it_says_whose_state_has_nothing_in_it() -> None:
    full = everything()
    state = replace(full.operators[SUM], empty=True)
    manifest = replace(full, operators={SUM: state, "d" * 32: full.operators[SUM]})
    assert decoded(encoded(manifest), 6, "6.json") == manifest
    assert b"empty" not in encoded(full)  # as versions before wrote it
    assert list(manifest.filled().operators) == ["d" * 32]
    assert set(manifest.files()) >= {file.name for chain in state.subtasks for file in chain}


def test_it_names_its_files() -> None:
    assert [name[:6] for name in everything().files()] == ["555555", "555555", "ended-"]


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("pickle"), inner) | st.tuples(inner, inner),
)


@given(plain)
def test_any_position_comes_back_as_it_was(position: Any) -> None:
    text = json.dumps(encoded_position(position))
    assert repr(decoded_position(json.loads(text))) == repr(position)  # not ==, for nan, and True which is 1


@pytest.mark.parametrize("position", [Offset(1, 2), {1: 2}, (1, [2]), {"pickle": "x"}, b"bytes", [float("nan")]])
def test_what_is_not_plain_is_pickled(position: Any) -> None:
    decoded = decoded_position(json.loads(json.dumps(encoded_position(position))))
    assert type(decoded) is type(position)
    assert repr(decoded) == repr(position)


def test_a_deep_position_is_no_trouble() -> None:
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    assert decoded_position(json.loads(json.dumps(encoded_position(deep)))) == deep


def test_every_byte_counts() -> None:
    data, chance = encoded(everything()), random.Random(12)
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << chance.randrange(8)
        with pytest.raises(CheckpointDirectoryError, match="manifest-6"):
            decoded(bytes(damaged), 6, "/job/manifests/manifest-6.json")
    for length in range(len(data)):
        with pytest.raises(CheckpointDirectoryError, match="damaged"):
            decoded(data[:length], 6, "m")
    with pytest.raises(CheckpointDirectoryError, match="damaged"):
        decoded(data + b"\n", 6, "m")


def test_one_that_was_cut_says_so() -> None:
    data = encoded(everything())
    for length in range(len(data)):
        with pytest.raises(CheckpointDirectoryError) as refused:
            decoded(data[:length], 6, "m")
        reason = "it is empty" if length == 0 else "it ends in the middle"
        assert f"The manifest 'm' is damaged: {reason}. Bring it back from a copy." in str(refused.value)


@given(st.binary(max_size=200))
def test_anything_else_is_an_error(data: bytes) -> None:
    with pytest.raises(CheckpointDirectoryError, match="damaged"):
        decoded(data, 6, "m")


@pytest.mark.parametrize("data", [b"[]\n{}\n", b'{"kind":"penstock step"}\n', b"1\n1\n", b"[" * 100_000])
def test_other_json_is_an_error(data: bytes) -> None:
    with pytest.raises(CheckpointDirectoryError, match="damaged"):
        decoded(data, 6, "m")


def test_a_manifest_under_another_name_is_damaged() -> None:
    with pytest.raises(CheckpointDirectoryError, match="that of checkpoint 6"):
        decoded(encoded(everything()), 7, "m")


def test_a_newer_format_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "FORMAT", 2)
        data = encoded(everything())
    with pytest.raises(CheckpointDirectoryError, match=r"format 2: a newer Penstock has written it.*formats up to 1"):
        decoded(data, 6, "m")


def test_the_same_values_are_the_same_text() -> None:
    assert encoded(everything()) == encoded(replace(everything()))
