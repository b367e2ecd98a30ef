"""Who takes which state: by ID alone, pins first."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from penstock.errors import InvalidProgramError
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest, TaskState
from penstock.job.folder.read_splits import EndedSplits
from penstock.job.restore.matches import Taken, match
from penstock.runtime.buffers.codec import dumps

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


@dataclass(frozen=True)
class Operator:
    operator_id: str
    uid: str | None = None
    pinned: str | None = None
    name: str = "operator"


def manifest(*with_state, counters=(), **more):
    states = {state_id: OperatorState(state_id[0], None, 1, 128, ((),)) for state_id in with_state}
    return StepManifest(3, "job", "", 0, operators=states, counters=dict.fromkeys(counters, ()), **more)


@pytest.mark.parametrize(
    ("saved", "operators", "taken", "left", "new"),
    [
        (manifest(A), [Operator(A)], {A: Taken(A, "position")}, (), ()),
        (manifest(A), [Operator(A, "u")], {A: Taken(A, "uid")}, (), ()),
        (manifest(A), [Operator(B, "u")], {}, (A,), (B,)),
        (manifest(A), [Operator(B, "u", A)], {B: Taken(A, "uid hash")}, (), ()),
        (manifest(A), [Operator(A, "u", B)], {A: Taken(A, "uid")}, (), ()),
        (manifest(A, B), [Operator(A, "u", B)], {A: Taken(B, "uid hash")}, (A,), ()),
        (manifest(A, counters=[B]), [Operator(A, "u", B)], {A: Taken(A, "uid")}, (), ()),
        (manifest(A, B, C), [Operator(C), Operator(A)], {C: Taken(C, "position"), A: Taken(A, "position")}, (B,), ()),
        (manifest(counters=[A]), [Operator(A), Operator(B)], {A: Taken(A, "position")}, (), (B,)),
    ],
)
def test_state_is_found_by_its_id(saved, operators, taken, left, new):
    result = match(saved, operators)
    assert (result.taken, result.left, result.new) == (taken, left, new)


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({"sources": {A: SourceState({"split": [0, 3]})}}, (A,)),
        ({"sources": {A: SourceState(ended=EndedSplits((), ("split",)))}}, (A,)),
        ({"sources": {A: SourceState({"records-0": [0, 3]})}}, (A,)),
        ({"sources": {A: SourceState({"records-0": [0, [3, 0]]})}}, ()),
        ({"sources": {A: SourceState()}}, ()),
        ({"tasks": {A: (TaskState(), TaskState(dumps((b"", [(0, 0, 1, 0, 0, b"row")]))))}}, (A,)),
        ({"tasks": {A: (TaskState(dumps((b"watermarks", []))),)}}, ()),
    ],
)
def test_what_must_not_be_lost_besides_state(more, left):
    assert match(manifest(**more), [Operator(B)]).left == left


def test_two_do_not_take_the_same():
    with pytest.raises(InvalidProgramError, match="would both take the state"):
        match(manifest(A), [Operator(A), Operator(B, pinned=A)])
    assert match(manifest(counters=[A]), [Operator(A), Operator(B, pinned=A)]).left == ()
