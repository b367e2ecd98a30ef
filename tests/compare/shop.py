"""A program of twelve operators, and edits of it; what each does to operator IDs, and why, is said here by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tests.generator.programs import SINK, SOURCE, Node, Program
from tests.generator.world import places

PLAIN = Program(
    (
        Node("a", SOURCE, amount=2),
        Node("b", SOURCE, amount=3),
        Node("add", "map", ("a",), 1),
        Node("keep", "keep", ("b",)),
        Node("merged", "union", ("add", "keep")),
        Node("count", "count", ("merged",), 3),
        Node("more", "map", ("count",)),
        Node("first", "first", ("keep",), 3),
        Node("double", "twice", ("first",)),
        Node("both", "both", ("add", "keep")),
        Node("see count", SINK, ("more",)),
        Node("see first", SINK, ("double",)),
        Node("see both", SINK, ("both",)),
    )
)
UIDS = replace(PLAIN, nodes=tuple(replace(n, uid=f"{n.label}-uid") if n.stateful else n for n in PLAIN.nodes))
OLD = {label: place.generated for label, place in places(PLAIN).items()}


@dataclass(frozen=True)
class Case:
    id: str
    before: Program
    after: Program


def _pinned(program: Program, *labels: str) -> Program:
    for label in labels:
        program = program.change(label, uid_hash=OLD[label])
    return program


def _uids(program: Program, **uids: str | None) -> Program:
    for label, uid in uids.items():
        program = program.change(label, uid=uid)
    return program


_NEW_FIRST = PLAIN.insert(Node("c", SOURCE, amount=4), at=0).insert(Node("see c", SINK, ("c",)))
_NEW_LAST = PLAIN.insert(Node("c", SOURCE, amount=4), at=13).insert(Node("see c", SINK, ("c",)))
_NEW = Node("new", "map", ("keep",))
CASES = [
    # --- nothing that an ID is made of
    Case("nothing", PLAIN, PLAIN),
    Case("nothing-uids", UIDS, UIDS),
    Case("renamed", PLAIN, PLAIN.change("count", name="counter").change("a", name="orders")),
    Case("all-renamed", PLAIN, replace(PLAIN, nodes=tuple(replace(n, name=f"{n.label} 2") for n in PLAIN.nodes))),
    Case("code", PLAIN, PLAIN.change("add", amount=7).change("count", amount=5)),
    Case("parallelism-of-all", PLAIN, replace(PLAIN, parallelism=4)),
    Case("parallelism-of-hashed", UIDS, UIDS.change("both", parallelism=5)),
    # --- something upstream
    Case("inserted-map", PLAIN, PLAIN.insert(_NEW, ["first"])),
    Case("inserted-filter", PLAIN, PLAIN.insert(Node("new", "keep", ("add",)), ["both"])),
    Case("inserted-before-sink", PLAIN, PLAIN.insert(Node("new", "map", ("both",)), ["see both"])),
    Case("inserted-after-source", PLAIN, PLAIN.insert(Node("new", "map", ("a",)), ["add"])),
    Case("inserted-exchange", PLAIN, PLAIN.insert(Node("new", "shift", ("a",)), ["add"])),
    Case("inserted-async", PLAIN, PLAIN.insert(Node("new", "later", ("keep",)), ["first"])),
    Case("inserted-stateful", PLAIN, PLAIN.insert(Node("new", "tally", ("add",)), ["both"])),
    Case("inserted-uids", UIDS, UIDS.insert(_NEW, ["first"])),
    Case("two-inserted", PLAIN, PLAIN.insert(_NEW, ["first"]).insert(Node("newer", "map", ("count",)), ["more"])),
    Case("removed-map", PLAIN, PLAIN.without("add")),
    Case("removed-filter", PLAIN, PLAIN.without("keep")),
    Case("removed-between-state-and-sink", PLAIN, PLAIN.without("more")),
    Case("removed-stateful", PLAIN, PLAIN.without("first")),
    Case("removed-branch", PLAIN, PLAIN.without("see both").without("both")),
    Case("removed-uids", UIDS, UIDS.without("keep")),
    Case("inputs-of-union-swapped", PLAIN, PLAIN.change("merged", inputs=("keep", "add"))),
    Case("inputs-of-connect-swapped", PLAIN, PLAIN.change("both", inputs=("keep", "add"))),
    Case("reads-something-else", PLAIN, PLAIN.change("first", inputs=("add",))),
    Case("reads-source", PLAIN, PLAIN.change("first", inputs=("b",))),
    Case("no-union", PLAIN, PLAIN.without("merged")),
    # --- sources
    Case("source-added-first", PLAIN, _NEW_FIRST),
    Case("source-added-last", PLAIN, _NEW_LAST),
    Case("source-added-first-uids", UIDS, UIDS.insert(Node("c", SOURCE, amount=4), at=0)
          .insert(Node("see c", SINK, ("c",)))),
    Case("source-removed", _NEW_FIRST, PLAIN),
    Case("sources-swapped", PLAIN, replace(PLAIN, nodes=(PLAIN.nodes[1], PLAIN.nodes[0], *PLAIN.nodes[2:]))),
    # --- chains
    Case("chaining-off", PLAIN, replace(PLAIN, chaining=False)),
    Case("chaining-on", replace(PLAIN, chaining=False), PLAIN),
    Case("new-chain", PLAIN, PLAIN.change("add", chain="new")),
    Case("chaining-disabled", PLAIN, PLAIN.change("double", chain="off")),
    Case("chain-made", PLAIN.change("keep", chain="new"), PLAIN),
    Case("parallelism-behind-source", PLAIN, PLAIN.change("add", parallelism=3)),
    Case("parallelism-of-stateful", PLAIN, PLAIN.change("first", parallelism=3)),
    Case("parallelism-back", PLAIN.change("first", parallelism=3), PLAIN),
    Case("parallelism-of-map", PLAIN, PLAIN.change("more", parallelism=5)),
    Case("sink-added-to-source", PLAIN, PLAIN.insert(Node("see a", SINK, ("a",)))),
    Case("sink-added-to-stateful", PLAIN, PLAIN.insert(Node("see f", SINK, ("first",)))),
    Case("sink-added-unchained", PLAIN, PLAIN.insert(Node("see a", SINK, ("a",), parallelism=1))),
    Case("sink-removed", PLAIN.insert(Node("see f", SINK, ("first",))), PLAIN),
    # --- uids and pins
    Case("uid-added", PLAIN, _uids(PLAIN, count="n")),
    Case("uids-added", PLAIN, UIDS),
    Case("uid-changed", UIDS, _uids(UIDS, count="n")),
    Case("uid-removed", UIDS, _uids(UIDS, first=None)),
    Case("uids-swapped", UIDS, _uids(UIDS, count="first-uid", first="count-uid")),
    Case("uid-of-stateless", PLAIN, _uids(PLAIN, add="n")),
    Case("pinned-nothing-else", PLAIN, _pinned(PLAIN, "count")),
    Case("pinned-inserted", PLAIN, _pinned(PLAIN.insert(_NEW, ["first"]), "first")),
    Case("pinned-source-added", PLAIN, _uids(_pinned(_NEW_FIRST, "a", "b", "count", "first", "both"), c="c")),
    Case("pinned-twice", PLAIN, PLAIN.change("both", uid_hash=OLD["count"])),
    # --- key groups
    Case("max-set", PLAIN, PLAIN.change("count", max_parallelism=64)),
    Case("max-of-all", UIDS, replace(UIDS, max_parallelism=16)),
    Case("above-max", replace(UIDS, max_parallelism=4), replace(UIDS, parallelism=5)),
    # --- another function
    Case("function-replaced", PLAIN, PLAIN.change("count", kind="tally")),
]  # fmt: skip
"""All of them."""
_LINES = Path(__file__).with_suffix(".tsv").read_text(encoding="utf-8").splitlines()[1:]
_ROWS = [line.split("\t") for line in _LINES]
WHY = {edit: causes for edit, causes, _ in _ROWS if causes}
"""Of each edit after which IDs are others, the causes: kind, subject, and the chaining rule."""
BLOCKED = {edit: set(problems.split("; ")) for edit, _, problems in _ROWS if problems}
"""Of edits, the kinds of problems that nothing allows."""
