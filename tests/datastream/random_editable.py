"""Random programs that can be edited."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.datastream.editable import SINK, SOURCE, Node, Program
from tests.datastream.editable_states import KINDS, TIMED

BACKEND = "penstock.state.backend"


def random_program(draw: random.Random) -> Program:
    """A program of some sources, operators, and sinks of what nobody reads."""
    nodes = [Node(f"source {i}", SOURCE, amount=draw.randrange(100)) for i in range(draw.randint(1, 3))]
    program = Program(tuple(nodes), parallelism=draw.randint(1, 4), chaining=draw.random() < 0.9)
    for number in range(draw.randint(2, 7)):
        longer = program.insert(random_node(draw, program, f"op {number}"), at=len(program.nodes))
        program = program if is_late(longer) else longer
    if draw.random() < 0.7:
        program = replace(program, nodes=tuple(named(draw, node) for node in program.nodes))
    program = replace(program, two_phases=draw.random() < 0.3)
    program = replace(program, settings={BACKEND: draw.choice(["memory", "memory", "disk"])})
    if draw.random() < 0.15:
        program = replace(program, max_parallelism=draw.choice([8, 16, 128]))
    return ended(program)


def random_node(draw: random.Random, program: Program, label: str) -> Node:
    """An operator on what is there."""
    there = [node for node in program.nodes if node.kind != SINK]
    splits = [node for node in there if node.kind == "split"]
    kind = draw.choice([kind for kind in KINDS if kind != "side" or splits])
    inputs = [draw.choice(splits if kind == "side" else there).label for _ in range(KINDS[kind].inputs)]
    parallelism = draw.choice([None, None, draw.randint(1, 4)]) if kind not in ("side", "union") else None
    chain = draw.choice(["", "", "", "new", "off"])
    return Node(label, kind, tuple(inputs), draw.randint(1, 4), parallelism=parallelism, chain=chain)


def is_late(program: Program) -> bool:
    """Whether a program looks at the time behind a loop."""
    behind: set[str] = set()
    for node in program.nodes:
        if node.kind == "loop" or behind & set(node.inputs):
            behind.add(node.label)
    return any(program.node(label).kind in TIMED for label in behind)


def named(draw: random.Random, node: Node) -> Node:
    """A node with a uid, most likely."""
    settable = node.kind not in ("union", "side", SINK)
    return replace(node, uid=f"uid of {node.label}") if settable and draw.random() < 0.85 else node


def ended(program: Program) -> Program:
    """The same with a sink for each stream that nobody reads, and without those that read nothing."""
    labels = {node.label for node in program.nodes}
    nodes = [node for node in program.nodes if set(node.inputs) <= labels]
    read = {each for node in nodes for each in node.inputs}
    sinks = [Node(f"see {n.label}", SINK, (n.label,)) for n in nodes if n.kind != SINK and n.label not in read]
    return replace(program, nodes=(*nodes, *sinks))
