"""PS0xx: whether operators find their state again when the program has changed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject
from penstock.plan import StreamNode
from penstock.runtime.io.sinks import PublishedSink
from penstock.runtime.io.two_phase import TwoPhaseOutput
from penstock.runtime.operators.format_reader import FormatReader
from penstock.runtime.operators.source import FileReader

_RANDOM = re.compile(
    r"(?P<uuid>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
    r"|(?P<address>\b0x[0-9a-f]{6,16}\b)"
    r"|(?P<time>(?<!\d)1[5-9]\d{8}(?:\d{3}|\d{6}|\d{9})?(?:\.\d+)?(?!\d))"
    r"|(?P<date>(?<!\d)20\d\d-[01]\d-[0-3]\d[T _][0-2]\d:[0-5]\d)"
    r"|(?P<digest>(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{32,64}(?![0-9a-z]))",
    re.IGNORECASE,
)
_KINDS = {
    "uuid": "a UUID",
    "address": "an address in memory",
    "time": "a time in seconds or milliseconds",
    "date": "a date with a time",
    "digest": "a digest or random number",
}


def _unnamed(node: StreamNode) -> bool:
    return node.uid is None and node.user_hash is None


class StatefulOperatorWithoutUid(Rule):
    """An operator keeps state and has no uid.

    Without a uid the ID of an operator follows from its place in the plan. An operator that is added before it, a
    parallelism that breaks a chain, a stream that is built in another order: each gives it another ID, and its state
    belongs to nobody. With a uid the ID follows from that text alone.

    Only programs that are started again from their state are looked at: those that never end, take checkpoints, have a
    job folder or begin from a savepoint (`long-running = true` says so of all programs).

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """

    code = "PS001"

    def find(self, subject: Subject) -> Iterator[Found]:
        if not subject.goes_on:
            return
        for node in subject.nodes.values():
            if node.kind in ("operator", "two_input") and _unnamed(node) and subject.stateful(node):
                states = subject.states.get(node.id)
                kept = "keeps " + ", ".join(sorted(repr(each.name) for each in states)) if states else "may keep state"
                yield Found(
                    f"{node.name!r} {kept} and has no uid: a change of the program can move its ID, and the state is "
                    "lost. Give it one, uid('…'), before the first savepoint.",
                    node.id,
                )


class DuplicateUid(Rule):
    """Two operators have the same uid.

    Both would have the same ID and the same state, so the planner refuses the program, as Flink does. It names the
    second operator; here all of them are named, each where it is made.

    Bad::

        orders.map(lambda order: order[1]).uid("amounts").print()
        orders.map(lambda order: order[0]).uid("amounts").print()

    Good::

        orders.map(lambda order: order[1]).uid("amounts").print()
        orders.map(lambda order: order[0]).uid("users").print()
    """

    code = "PS002"

    def find(self, subject: Subject) -> Iterator[Found]:
        first: dict[str, StreamNode] = {}
        for node in subject.nodes.values():
            if node.uid is None:
                continue
            other = first.setdefault(node.uid, node)
            if other is not node:
                yield Found(
                    f"The uid {node.uid!r} of {node.name!r} is that of {other.name!r}, too (node {other.id}): the "
                    "program is refused. Give each operator its own.",
                    node.id,
                )


class RandomLookingUid(Rule):
    """A uid looks as if it were another one in the next run.

    A uid has to be the same whenever the program is planned. One with a UUID, a time, a digest or the address of an
    object in it has mostly been made while the program ran, so no savepoint will ever fit. One that is written down in
    the program is safe: suppress the finding in its line.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("total-6f1c2a54-90b6-4a0e-8f5c-0d6b0a1f7c3e").print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """

    code = "PS003"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            looks = None if node.uid is None else _RANDOM.search(node.uid)
            if looks is not None:
                yield Found(
                    f"The uid {node.uid!r} of {node.name!r} has {_KINDS[looks.lastgroup or '']} in it: if the next run "
                    "makes another one, its state is lost. Write a fixed text.",
                    node.id,
                )


class UnstableUid(Rule):
    """A uid is another one when the program is planned again.

    The command runs the program twice up to its first `execute()`, the second time in a process of its own with another
    seed for the hashes of texts, and compares. A uid that differs was made of a random number, the time, the order of a
    set or the `hash()` of a text; state that is kept under it is lost with every start. `--once` leaves the second run
    out. In a test, give `lint` the uids of another run: `again=`.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid(f"total {id(orders)}").print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("total by user").print()
    """

    code = "PS004"
    found_by = "a second run of the program"

    def find(self, subject: Subject) -> Iterator[Found]:
        again = subject.known.uids
        for node in subject.nodes.values() if again is not None else ():
            if again is not None and node.uid is not None and node.id in again and again[node.id] != node.uid:
                yield Found(
                    f"The uid of {node.name!r} is {node.uid!r}, and {again[node.id]!r} when the program is planned "
                    "again: its state is lost with every start. Write a fixed text.",
                    node.id,
                )


class UidBesideUidHash(Rule):
    """An operator has a uid and a uid hash, and the uid does not decide which state it takes.

    A uid hash is taken as the ID under which state is looked for; state is still written under the ID that follows from
    the uid. That is right for one start, to take over state from an old job, and wrong after it: 1.11 looks under the
    hash only, and does not find its own state again. Remove the hash once a savepoint has been taken.

    Bad::

        totals = orders.key_by(lambda order: order[0]).sum(1)
        totals.uid("totals").set_uid_hash("2e588ce1c86a9d46e2e85186773ce4fd").print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """

    code = "PS005"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            if node.uid is not None and node.user_hash is not None:
                yield Found(
                    f"{node.name!r} has the uid {node.uid!r} and the uid hash {node.user_hash}: state is looked for "
                    "under the hash, and written under the uid. Keep one of them, the hash for one start at most.",
                    node.id,
                )


class SourceWithoutUid(Rule):
    """A source has no uid, and its position is state.

    How far a source has read is kept under its ID. If a change of the program moves the ID, the source begins anew: it
    reads everything twice, or leaves out what came meanwhile. Only programs that are started again from their state are
    looked at.

    Bad::

        env.from_source(endless, in_order, "clicks").print()

    Good::

        env.from_source(endless, in_order, "clicks").uid("clicks").print()
    """

    code = "PS006"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values() if subject.goes_on else ():
            if node.kind == "source" and _unnamed(node) and not self._monitors(subject, node):
                yield Found(
                    f"{node.name!r} has no uid: a change of the program can move its ID, and it forgets how far it "
                    "has read. Give it one, uid('…'), before the first savepoint.",
                    node.id,
                )

    @staticmethod
    def _monitors(subject: Subject, node: StreamNode) -> bool:
        """Whether it is the monitor of a reader of files, which no setter reaches."""
        readers = (subject.operator(edge.target) for edge in subject.outputs[node.id])
        return any(isinstance(each, FileReader | FormatReader) for each in readers)


class SinkWithoutUid(Rule):
    """A sink that writes in two phases has no uid, and what it has not published yet is state.

    Files and transactions that wait for the next commit are noted under the ID of the sink. If it moves, nobody
    publishes them: records are missing in the output. Only programs that are started again from their state are looked
    at.

    Bad::

        orders.map(str).sink_to(FileSink.for_row_format("out", Encoder.simple_string_encoder()).build())

    Good::

        lines = FileSink.for_row_format("out", Encoder.simple_string_encoder()).build()
        orders.map(str).sink_to(lines).uid("lines")
    """

    code = "PS007"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node, function in subject.sinks() if subject.goes_on else ():
            if isinstance(function, PublishedSink | TwoPhaseOutput) and _unnamed(node):
                yield Found(
                    f"{node.name!r} has no uid: a change of the program can move its ID, and output that waits to be "
                    "published is lost. Give it one, uid('…'), before the first savepoint.",
                    node.id,
                )


class UidHashWithoutUid(Rule):
    """An operator has a uid hash and no uid, and in Flink 1.11 it does not find its own state again.

    The hash says where state is looked for. It is written under the generated ID, here by the place in the plan; so the
    next savepoint has it under an ID that 1.11 does not ask for, and drops it in silence. Give the operator a uid too,
    start once with the hash, take a savepoint, and remove the hash. Flink 2.3 looks under both, so there this is no
    finding.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).set_uid_hash("2e588ce1c86a9d46e2e85186773ce4fd").print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """

    code = "PS008"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values() if subject.pipeline.flink == "1.11" else ():
            if node.user_hash is not None and node.uid is None:
                yield Found(
                    f"{node.name!r} has the uid hash {node.user_hash} and no uid: 1.11 writes its state under another "
                    "ID, and drops it at the next start. Give it a uid, and keep the hash for one start.",
                    node.id,
                )


class InvisibleCharactersInUid(Rule):
    """A uid has characters in it that nobody sees.

    Blanks at its ends, characters without width and controls are part of the text that is hashed. Two uids that look
    the same then give two IDs, and whoever types it anew loses the state.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals ").print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """

    code = "PS009"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            uid = node.uid
            if uid is not None and (uid != uid.strip() or any(_unseen(each) for each in uid)):
                yield Found(
                    f"The uid {uid!a} of {node.name!r} has blanks at its ends, or characters that nobody sees. "
                    "Write it without, unless a savepoint has it so.",
                    node.id,
                )


def _unseen(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp")
