"""PS0xx: whether operators find their state again when the program has changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from penstock.connectors.two_phase import TwoPhaseOutput
from penstock.lint.rule import Message, nodes, repeated, resumable, rule, sinks
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.operators.source import FileReader, FormatReader

_RANDOM = {
    "a UUID": r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
    "an address in memory": r"\b0x[0-9a-f]{6,16}\b",
    "a time in seconds or milliseconds": r"(?<!\d)1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?!\d)",
    "a date with a time": r"(?<!\d)20\d\d-[01]\d-[0-3]\d[T _][0-2]\d:[0-5]\d",
    "a digest or random number": r"(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{32,64}(?![0-9a-z])",
}


def _unnamed(node: StreamNode) -> bool:
    return node.uid is None and node.user_hash is None


@rule("PS001", resumable(nodes), needs_uid=True)
def stateful_operator_without_uid(subject: Subject, node: StreamNode) -> Message:
    """An operator keeps state and has no uid.

    Without a uid the ID of an operator follows from its place in the plan. A new operator before it, a parallelism that
    breaks a chain, or streams built in another order change the ID, and the state is lost. With a uid only that counts.

    Only programs that may be started again from their state are checked: those that never end, take checkpoints, have a
    checkpoint directory or begin from a savepoint. `long-running = true` makes it all programs.

        - orders.key_by(lambda order: order[0]).sum(1).print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """
    if node.kind not in ("operator", "two_input") or not _unnamed(node) or not subject.stateful(node):
        return ""
    states = subject.states.get(node.id)
    kept = "keeps " + ", ".join(sorted(repr(state.name) for state in states)) if states else "may keep state"
    return (
        f"{node.name!r} {kept} and has no uid: a change of the program can move its ID, and the state is lost. Give it "
        "one, uid('…'), before the first savepoint."
    )


@rule("PS002", repeated(lambda subject: ((node, node.uid) for node in subject.nodes.values())))
def duplicate_uid(subject: Subject, node: StreamNode, uid: str, other: StreamNode) -> Message:
    """Two operators have the same uid.

    Both would have the same ID and state, so the program is refused, as in Flink. This rule names each of them where it
    is made.

          orders.map(lambda order: order[1]).uid("amounts").print()
        - orders.map(lambda order: order[0]).uid("amounts").print()
        + orders.map(lambda order: order[0]).uid("users").print()
    """
    return (
        f"The uid {uid!r} of {node.name!r} is also that of {other.name!r} (node {other.id}): the program is refused. "
        "Give each operator its own."
    )


@rule("PS003")
def random_looking_uid(subject: Subject, node: StreamNode) -> Message:
    """A uid looks as if it changed with every run.

    A uid that contains a UUID, a time, a digest or an address in memory was probably generated at run time, so no
    savepoint will ever match. If it is a constant of the program, suppress the finding in its line.

        - orders.key_by(lambda order: order[0]).sum(1).uid("total-6f1c2a54-90b6-4a0e-8f5c-0d6b0a1f7c3e").print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """
    kinds = (kind for kind, pattern in _RANDOM.items() if re.search(pattern, node.uid or "", re.IGNORECASE))
    kind = next(kinds, "")
    return kind and (
        f"The uid {node.uid!r} of {node.name!r} has {kind} in it: if the next run makes another one, its state is "
        "lost. Write a fixed text."
    )


@rule("PS004", found_by="a second run of the program")
def unstable_uid(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A uid changes when the program is planned again.

    The command runs the program twice up to its first `execute()`, the second time in another process with another hash
    seed and a clock 400 days ahead. A uid that differs depends on a random number, the date or time, the order of a set
    or the `hash()` of a text; state under it is lost at the next start, or on another day. `--once` skips the second
    run. In a test, give `lint` the uids of another run: `Known(uids=…)`.

        - orders.key_by(lambda order: order[0]).sum(1).uid(f"total {id(orders)}").print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """
    again = subject.known.uids
    if again is not None and node.uid is not None and again.get(node.id, node.uid) != node.uid:
        yield (
            f"The uid of {node.name!r} is {node.uid!r}, and {again[node.id]!r} when the program is planned again, on "
            "another day: its state is lost. Write a fixed text."
        )


@rule("PS005")
def uid_beside_uid_hash(subject: Subject, node: StreamNode) -> Iterator[str]:
    """An operator has a uid and a uid hash, and the uid does not decide which state it takes.

    State is looked up under the uid hash, and written under the ID of the uid. That takes over the state of an old job
    once; after it Flink 1.11 looks under the hash only and does not find its own state again. Remove the hash once a
    savepoint has been taken.

        - totals = orders.key_by(lambda order: order[0]).sum(1)
        - totals.uid("totals").set_uid_hash("2e588ce1c86a9d46e2e85186773ce4fd").print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """
    if node.uid is not None and node.user_hash is not None:
        yield (
            f"{node.name!r} has the uid {node.uid!r} and the uid hash {node.user_hash}: state is looked up under the "
            "hash, and written under the uid. Keep one of them, the hash for one start at most."
        )


@rule("PS006", resumable(nodes), needs_uid=True)
def source_without_uid(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A source has no uid, and its position is state.

    The position is kept under the ID of the source. If a change of the program moves the ID, the source reads
    everything again, or skips what arrived in between. Only programs that may be started again from their state are
    checked.

        - env.from_source(endless, in_order, "clicks").print()
        + env.from_source(endless, in_order, "clicks").uid("clicks").print()
    """
    # the monitor of a reader of files is a source that no setter reaches
    readers = (subject.operator(edge.target) for edge in subject.outputs[node.id])
    reachable = not any(isinstance(reader, FileReader | FormatReader) for reader in readers)
    if node.kind == "source" and _unnamed(node) and reachable:
        yield (
            f"{node.name!r} has no uid: a change of the program can move its ID, and its position is lost. Give it "
            "one, uid('…'), before the first savepoint."
        )


@rule("PS007", resumable(sinks), needs_uid=True)
def sink_without_uid(subject: Subject, node: StreamNode, function: Any) -> Iterator[str]:
    """A sink that commits in two phases has no uid, and its uncommitted output is state.

    Files and transactions that wait for the next commit are noted under the ID of the sink. If the ID moves, nothing
    commits them, and records are missing in the output. Only programs that may be started again from their state are
    checked.

        - orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())
        + lines = FileSink.for_row_format("out", Encoder.simple_string_encoder()).build()
        + orders.map(str).sink_to(lines).uid("lines")
    """
    if isinstance(function, PublishedSink | TwoPhaseOutput) and _unnamed(node):
        yield (
            f"{node.name!r} has no uid: a change of the program can move its ID, and output that is not committed yet "
            "is lost. Give it one, uid('…'), before the first savepoint."
        )


@rule("PS008")
def uid_hash_without_uid(subject: Subject, node: StreamNode) -> Iterator[str]:
    """An operator has a uid hash and no uid, and in Flink 1.11 it does not find its own state again.

    State is looked up under the hash, and written under the ID of the place in the plan. 1.11 does not look under that
    at the next start, and drops the state silently. Give the operator a uid too, start once with the hash, take a
    savepoint, and remove the hash. Flink 2.3 looks under both, so this is not reported there.

        - orders.key_by(lambda order: order[0]).sum(1).set_uid_hash("2e588ce1c86a9d46e2e85186773ce4fd").print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """
    if subject.pipeline.flink == "1.11" and node.user_hash is not None and node.uid is None:
        yield (
            f"{node.name!r} has the uid hash {node.user_hash} and no uid: 1.11 writes its state under another ID, and "
            "drops it at the next start. Give it a uid, and keep the hash for one start."
        )


@rule("PS009")
def invisible_characters_in_uid(subject: Subject, node: StreamNode) -> Message:
    """A uid contains invisible characters.

    Blanks at its ends, zero-width characters and control characters are hashed too. Two uids that look the same then
    give two IDs, and whoever types the uid again loses the state.

        - orders.key_by(lambda order: order[0]).sum(1).uid("totals ").print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """
    uid = node.uid or ""
    invisible = uid != uid.strip() or any(unicodedata.category(mark) in ("Cc", "Cf", "Zl", "Zp") for mark in uid)
    return invisible and (
        f"The uid {uid!a} of {node.name!r} has blanks at its ends, or invisible characters. Write it without, unless a "
        "savepoint has it so."
    )
