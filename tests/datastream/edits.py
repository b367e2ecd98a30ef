"""Edits of programs between two runs, and what survives each: said here by hand, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tests.generator.programs import SINK, SOURCE, Node, Program
from tests.generator.world import places


@dataclass(frozen=True)
class Edit:
    id: str
    before: Program
    after: Program
    empty: str = ""
    takes: Mapping[str, str] = field(default_factory=dict)
    unread: str = ""
    left: str = ""
    lost: str = ""
    refused: bool = False
    allowed: bool = False
    other_type: bool = False


def _uids(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    return tuple(replace(node, uid=f"{node.label}-uid") if node.stateful else node for node in nodes)


def see(label: str) -> Node:
    """A sink of what an operator makes."""
    return Node(f"see {label}", SINK, (label,))


NODES = (
    Node("a", SOURCE, amount=2),
    Node("b", SOURCE, amount=3),
    Node("m", "map", ("a",), 1),
    Node("u", "union", ("m", "b")),
    Node("count", "count", ("u",), 3),
    Node("window", "window", ("m",)),
    Node("both", "both", ("m", "b")),
    Node("rules", "rules", ("m", "b")),
    see("count"),
    see("window"),
    see("both"),
    see("rules"),
)
UIDS = Program(_uids(NODES))
AUTO = Program(
    (
        Node("a", SOURCE, amount=2),
        Node("b", SOURCE, amount=3),
        Node("m", "map", ("a",), 1),
        Node("count", "count", ("m",), 3),
        see("count"),
        Node("k", "keep", ("b",)),
        Node("first", "first", ("k",)),
        see("first"),
    )
)
SIDES = Program(
    _uids(
        (
            Node("a", SOURCE, amount=2),
            Node("s", "split", ("a",)),
            Node("odd", "side", ("s",)),
            Node("count", "count", ("s",)),
            Node("alarm", "alarm", ("odd",)),
            see("count"),
            see("alarm"),
        )
    )
)
JOINED = Program(
    _uids(
        (
            Node("a", SOURCE, amount=2),
            Node("b", SOURCE, amount=3),
            Node("near", "near", ("a", "b"), 3),
            Node("batches", "batches", ("near",)),
            Node("sum", "sum", ("near",), 3),
            see("batches"),
            see("sum"),
        )
    )
)
LOOP = Program(
    _uids(
        (
            Node("a", SOURCE, amount=2),
            Node("l", "loop", ("a",), 1),
            Node("count", "count", ("l",), 3),
            see("count"),
        )
    )
)
WINDOWS = Program(
    _uids(
        (
            Node("a", SOURCE, amount=2),
            Node("session", "session", ("a",)),
            Node("sliding", "sliding", ("a",)),
            Node("triggered", "triggered", ("a",)),
            Node("items", "items", ("a",), 3),
            *map(see, ("session", "sliding", "triggered", "items")),
        )
    )
)
BATCHES = Program(
    _uids(
        (
            Node("a", SOURCE, amount=2),
            Node("batches", "batches", ("a",), 1),
            Node("count", "count", ("a",)),
            see("batches"),
            see("count"),
        )
    )
)
"""When it is stopped, only whole batches have come: those have no state."""
LOOSE = replace(AUTO, chaining=False)
HASH = places(UIDS)["count"].generated
AUTO_HASHES = {label: place.generated for label, place in places(AUTO).items()}


def _pinned(program: Program, hashes: Mapping[str, str]) -> Program:
    for label, value in hashes.items():
        program = program.change(label, uid_hash=value)
    return program


def _no_uids(program: Program) -> Program:
    return replace(program, nodes=tuple(replace(node, uid=None) for node in program.nodes))


MAX16 = replace(UIDS, max_parallelism=16)

EDITS = [
    Edit("nothing", UIDS, UIDS),
    Edit("nothing-without-uids", AUTO, AUTO),
    # --- names, settings
    Edit("renamed", UIDS, UIDS.change("count", name="another name").change("a", name="another source")),
    Edit("renamed-without-uids", AUTO, AUTO.change("count", name="another name").change("m", name="x")),
    Edit("function-changed", UIDS, UIDS.change("m", amount=4)),
    Edit("function-with-state-changed", UIDS, UIDS.change("count", amount=5)),
    Edit("function-changed-without-uids", AUTO, AUTO.change("count", amount=5).change("m", amount=4)),
    Edit("step-size", UIDS, replace(UIDS, settings={"penstock.step.records": "2"})),
    Edit("memory", UIDS, replace(UIDS, settings={"state.backend": "rocksdb"})),
    # --- operators inserted, removed, in another order
    Edit("inserted-before", UIDS, UIDS.insert(Node("new", "keep", ("u",)), ["count"])),
    Edit("inserted-behind", UIDS, UIDS.insert(Node("new", "map", ("count",)), ["see count"])),
    Edit("inserted-with-state", UIDS, UIDS.insert(Node("new", "first", ("u",), uid="new"), ["count"]), empty="new"),
    Edit("inserted-exchange", UIDS, UIDS.insert(Node("new", "shift", ("a",)), ["m"])),
    Edit("inserted-async", UIDS, UIDS.insert(Node("new", "later", ("m",)), ["window"])),
    Edit("inserted-before-without-uids", AUTO, AUTO.insert(Node("new", "keep", ("m",)), ["count"]), refused=True,
         empty="count", left="count"),
    Edit("inserted-behind-without-uids", AUTO, AUTO.insert(Node("new", "map", ("count",)), ["see count"])),
    Edit("removed", UIDS, UIDS.without("m")),
    Edit("removed-without-uids", AUTO, AUTO.without("m"), refused=True, empty="a count", left="a count"),
    Edit("removed-with-state", UIDS, UIDS.without("see both").without("both"), refused=True, left="both"),
    Edit("removed-with-state-allowed", UIDS, UIDS.without("see both").without("both"), left="both", allowed=True),
    Edit("two-removed-allowed", UIDS, UIDS.without("see both").without("both").without("see rules").without("rules"),
         left="both rules", allowed=True),
    Edit("other-order-of-lines", UIDS, replace(UIDS, nodes=_uids((NODES[1], NODES[0], *NODES[2:4], *NODES[7:3:-1],
                                                                  *NODES[:7:-1])))),
    Edit("state-moved-upstream", UIDS, UIDS.change("window", inputs=("a",))),
    # --- uids
    Edit("uids-added", AUTO, replace(AUTO, nodes=_uids(AUTO.nodes)), refused=True, empty="a b count first",
         left="a b count first"),
    Edit("uids-added-allowed", AUTO, replace(AUTO, nodes=_uids(AUTO.nodes)), allowed=True, empty="a b count first",
         left="a b count first"),
    Edit("uids-added-with-hashes", AUTO, _pinned(replace(AUTO, nodes=_uids(AUTO.nodes)), AUTO_HASHES)),
    Edit("uids-removed", UIDS, _no_uids(UIDS), refused=True, empty="a b count window both rules",
         left="a b count window both rules"),
    Edit("uid-changed", UIDS, UIDS.change("count", uid="other"), refused=True, empty="count", left="count"),
    Edit("uid-changed-allowed", UIDS, UIDS.change("count", uid="other"), allowed=True, empty="count", left="count"),
    Edit("uid-changed-with-hash", UIDS, UIDS.change("count", uid="other", uid_hash=HASH)),
    Edit("uid-removed-with-hash", UIDS, UIDS.change("count", uid=None, uid_hash=HASH)),
    Edit("uids-swapped", UIDS.change("count", kind="both", inputs=("u", "u")),
         UIDS.change("count", kind="both", inputs=("u", "u"), uid="both-uid").change("both", uid="count-uid"),
         takes={"count": "both", "both": "count"}),
    Edit("source-uid-changed", UIDS, UIDS.change("b", uid="other"), refused=True, empty="b", left="b"),
    Edit("source-uid-changed-allowed", UIDS, UIDS.change("b", uid="other"), allowed=True, empty="b", left="b"),
    Edit("hash-kept", UIDS.change("count", uid_hash="ab" * 16), UIDS.change("count", uid_hash="ab" * 16)),
    Edit("hash-removed", UIDS.change("count", uid_hash="ab" * 16), UIDS),
    Edit("hash-of-nobody", UIDS, UIDS.change("count", uid_hash="cd" * 16)),
    Edit("pinned-inserted", AUTO,
         _pinned(AUTO.insert(Node("new", "keep", ("m",)), ["count"]), {"count": AUTO_HASHES["count"]})),
    # --- chains
    Edit("chaining-off", UIDS, replace(UIDS, chaining=False)),
    Edit("chaining-on", replace(UIDS, chaining=False), UIDS),
    Edit("chain-broken", UIDS, UIDS.change("m", chain="off").change("see count", chain="off")),
    Edit("chain-made", UIDS.change("m", chain="new"), UIDS),
    Edit("chaining-off-without-uids", AUTO, replace(AUTO, chaining=False), refused=True, empty="a b count first",
         left="a b count first"),
    Edit("chain-broken-without-uids", AUTO, AUTO.change("m", chain="new"), refused=True, empty="a count",
         left="a count"),
    # --- parallelism
    *(Edit(f"parallelism-{p}", UIDS, replace(UIDS, parallelism=p)) for p in (1, 3, 5, 8)),
    Edit("parallelism-down", replace(UIDS, parallelism=8), replace(UIDS, parallelism=1)),
    Edit("parallelism-of-one", UIDS, UIDS.change("count", parallelism=5)),
    Edit("parallelism-of-a-source", UIDS, replace(UIDS, parallelism=3).change("b", parallelism=1)),
    Edit("parallelism-without-uids", AUTO, replace(AUTO, parallelism=4)),
    Edit("parallelism-of-one-without-uids", AUTO, AUTO.change("first", parallelism=3), refused=True,
         empty="first", left="first"),
    # --- max parallelism
    Edit("max-kept", MAX16, MAX16),
    Edit("max-set", UIDS, MAX16, refused=True),
    Edit("max-set-allowed", UIDS, MAX16, refused=True, allowed=True),
    Edit("max-set-to-the-same", UIDS, replace(UIDS, max_parallelism=128)),
    Edit("max-no-longer-set", MAX16, UIDS),
    Edit("max-no-longer-set-parallelism", MAX16, replace(UIDS, parallelism=8)),
    Edit("max-changed", MAX16, replace(UIDS, max_parallelism=32), refused=True),
    Edit("max-of-one", UIDS, UIDS.change("count", max_parallelism=64), refused=True),
    Edit("above-max", replace(UIDS, max_parallelism=4), replace(UIDS, parallelism=5), refused=True),
    Edit("at-max", replace(UIDS, max_parallelism=4), replace(UIDS, parallelism=4)),
    # --- sources and sinks
    Edit("source-added", UIDS, UIDS.insert(Node("c", SOURCE, amount=4, uid="c"), at=2)
         .insert(Node("u2", "union", ("u", "c")), ["count"]), empty="c"),
    Edit("source-added-first", UIDS, UIDS.insert(Node("c", SOURCE, amount=4, uid="c"), at=0)
         .insert(Node("see c", SINK, ("c",))), empty="c"),
    *(Edit(f"source-added-first-without-uids{end}", AUTO, AUTO.insert(Node("c", SOURCE, amount=4), at=0)
           .insert(Node("see c", SINK, ("c",))), refused=not end, allowed=bool(end), empty="b count first",
           takes={"c": "a", "a": "b"}, left="count first") for end in ("", "-allowed")),
    Edit("source-dropped", UIDS.insert(Node("c", SOURCE, amount=4, uid="c"), at=2).insert(Node("see c", SINK, ("c",))),
         UIDS, refused=True, left="c"),
    Edit("source-dropped-allowed",
         UIDS.insert(Node("c", SOURCE, amount=4, uid="c"), at=2).insert(Node("see c", SINK, ("c",))),
         UIDS, allowed=True, left="c"),
    Edit("source-of-other-data", UIDS, UIDS.change("b", amount=5)),
    Edit("sink-added", UIDS, UIDS.insert(Node("see u", SINK, ("u",)))),
    Edit("sink-added-without-uids", AUTO, AUTO.insert(Node("see m", SINK, ("m",))), refused=True,
         empty="count first", left="count first"),
    Edit("sink-removed", UIDS.insert(Node("see u", SINK, ("u",))), UIDS),
    # --- side outputs, joins
    Edit("sides", SIDES, replace(SIDES, parallelism=3)),
    Edit("side-read-by-another", SIDES, SIDES.change("count", inputs=("odd",)).change("alarm", inputs=("s",))),
    Edit("side-no-longer-read", SIDES, SIDES.without("see alarm").without("alarm").without("odd"), refused=True,
         left="alarm"),
    Edit("joined", JOINED, replace(JOINED, parallelism=5)),
    Edit("join-bounds-changed", JOINED, JOINED.change("near", amount=6)),
    Edit("inputs-swapped", UIDS, UIDS.change("both", inputs=("b", "m"))),
    Edit("join-inputs-swapped", JOINED, JOINED.change("near", inputs=("b", "a"))),
    Edit("broadcast-rescaled", UIDS, UIDS.change("rules", parallelism=7)),
    # --- loops
    Edit("loop", LOOP, LOOP),
    Edit("loop-parallelism", LOOP, replace(LOOP, parallelism=5)),
    Edit("loop-parallelism-down", replace(LOOP, parallelism=4), replace(LOOP, parallelism=1)),
    Edit("loop-body-changed", LOOP, LOOP.change("l", amount=2)),
    Edit("loop-removed", LOOP, LOOP.without("l")),
    Edit("loop-inserted", LOOP.without("l"), LOOP),
    Edit("loop-inserted-without-uids", _no_uids(LOOP.without("l")), _no_uids(LOOP), refused=True,
         empty="a count", left="count", lost="a"),
    # --- another function, state, window
    Edit("state-renamed", UIDS, UIDS.change("count", kind="tally"), unread="count"),
    Edit("window-size", UIDS, UIDS.change("window", kind="wide")),
    Edit("function-replaced", SIDES, SIDES.change("count", kind="first"), unread="count"),
    Edit("timers-replaced", SIDES, SIDES.change("alarm", kind="count"), unread="alarm"),
    Edit("window-replaced", UIDS, UIDS.change("window", kind="alarm"), unread="window"),
    Edit("window-for-timers", SIDES, SIDES.change("alarm", kind="window"), unread="alarm"),
    Edit("function-replaced-without-uids", AUTO, AUTO.change("count", kind="tally"), unread="count"),
    Edit("windows", WINDOWS, WINDOWS),
    Edit("windows-rescaled", WINDOWS, replace(WINDOWS, parallelism=5)),
    Edit("windows-inserted-before", WINDOWS, WINDOWS.insert(Node("new", "keep", ("a",)), ["session", "triggered"])),
    Edit("window-sliding", UIDS, UIDS.change("window", kind="sliding")),
    Edit("time-to-live-set", UIDS, UIDS.change("count", kind="lasting")),
    Edit("time-to-live-removed", UIDS.change("count", kind="lasting"), UIDS),
    Edit("keys-wider", UIDS, UIDS.change("count", kind="longs")),
    Edit("keys-of-another-type", UIDS, UIDS.change("count", kind="texts"), unread="count", refused=True,
         other_type=True),
    Edit("keys-of-another-type-allowed", UIDS, UIDS.change("count", kind="texts"), unread="count", refused=True,
         allowed=True, other_type=True),
    Edit("keys-of-another-type-with-another-uid", UIDS, UIDS.change("count", kind="texts", uid="texts"),
         empty="count", left="count", allowed=True),
    # --- state that has become empty
    Edit("nothing-left-removed", BATCHES, BATCHES.without("see batches").without("batches")),
    Edit("nothing-left-uid-changed", BATCHES, BATCHES.change("batches", uid="other"), empty="batches"),
    Edit("nothing-left-max", BATCHES, BATCHES.change("batches", max_parallelism=16), empty="batches"),
    Edit("nothing-left", BATCHES, BATCHES, empty="batches"),
    # --- by place, to who has no state
    Edit("place-of-another-without-uids", LOOSE, LOOSE.without("first"), lost="first"),
    # --- sources and sinks of another kind
    Edit("source-of-another-kind", UIDS, UIDS.change("b", amount=1003)),
    Edit("sinks-in-two-phases", UIDS, replace(UIDS, two_phases=True)),
    Edit("sinks-in-two-phases-without-uids", replace(AUTO, two_phases=True),
         replace(AUTO.insert(Node("new", "map", ("count",)), ["see count"]), two_phases=True)),
    Edit("sinks-no-longer-in-two-phases", replace(UIDS, two_phases=True), UIDS),
    Edit("rules-replaced", UIDS, UIDS.change("rules", kind="both"), unread="rules"),
]  # fmt: skip
"""All of them."""
