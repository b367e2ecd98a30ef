"""PS101 to PS107: how much state there is, how long it stays, and over how many subtasks it can be spread."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.lint.rule import Found, Message, nodes, program, resumable, rule
from penstock.lint.subject import Subject
from penstock.plan import StreamNode

_KEYED_KINDS = frozenset({"value", "list", "map", "reducing", "aggregating"})
_REMOVING = frozenset({"clear", "remove"})


@rule("PS101", resumable(nodes), default=False)
def max_parallelism_not_set(subject: Subject, node: StreamNode) -> Iterator[str]:
    """An operator keeps keyed state, and its max parallelism is left to Flink.

    Keyed state is kept in as many key groups as the max parallelism, and their number cannot change without rewriting
    all state. If it is not set it follows from the parallelism of the first start: 128, or more from 86 on. The
    parallelism can never exceed it.

        + env.set_max_parallelism(720)
          orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """
    if node.max_parallelism <= 0 and subject.keyed(node) and subject.stateful(node):
        yield (
            f"{node.name!r} keeps state by key in {subject.key_groups(node)} key groups, because its parallelism is "
            f"{node.parallelism}. Choose their number: set_max_parallelism(…) of the environment."
        )


@rule("PS102", found_by="a `penstock.lock`")
def max_parallelism_changed(subject: Subject, node: StreamNode) -> Iterator[str]:
    """The max parallelism of an operator with keyed state differs from the lock file.

    State of another number of key groups cannot be read: Flink refuses the savepoint. Penstock takes the number of the
    savepoint if the program sets none, and refuses it if the program sets another one.

        - orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(256).print()
        + orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(128).print()
    """
    known = (subject.known.max_parallelisms or {}).get(subject.operator_ids.get(node.id, ""))
    if known is not None and node.max_parallelism not in (-1, known) and subject.keyed(node):
        yield (
            f"{node.name!r} has the max parallelism {node.max_parallelism}, and {known} in penstock.lock: its state "
            f"cannot be read. Set it back, set_max_parallelism({known}), or rewrite the savepoint: penstock savepoint "
            "set-max-parallelism."
        )


@rule("PS103")
def parallelism_above_max_parallelism(subject: Subject, node: StreamNode) -> Message:
    """An operator has more subtasks than its max parallelism allows.

    Each key group belongs to one subtask, so Flink refuses a job with more subtasks than key groups.

        - orders.map(lambda order: order[1]).set_parallelism(8).set_max_parallelism(4).print()
        + orders.map(lambda order: order[1]).set_parallelism(4).set_max_parallelism(8).print()
    """
    return 0 < node.max_parallelism < node.parallelism and (
        f"{node.name!r} has the parallelism {node.parallelism} and the max parallelism {node.max_parallelism}: the job "
        "is refused. Lower the first, or raise the second."
    )


@rule("PS104", program)
def mixed_max_parallelism_in_chain(subject: Subject) -> Iterator[Found]:
    """Operators with keyed state share a task and have different max parallelisms.

    A task has one max parallelism for all its operators. On restore Flink splits the state of each by the number of the
    task; state in other key groups is lost or read by the wrong subtask, silently (FLINK-40113).

        - totals = orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(128)
        + totals = orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(256)
          again = DataStreamUtils.reinterpret_as_keyed_stream(totals, lambda order: order[0])
          again.process(Latest()).uid("latest").set_max_parallelism(256).print()
    """
    for chain in subject.chains:
        keyed = [node for node in map(subject.nodes.__getitem__, chain) if subject.keyed(node)]
        for node in keyed[1:]:
            numbers = node.max_parallelism, keyed[0].max_parallelism
            if numbers[0] != numbers[1]:
                one, other = (str(number) if number > 0 else "that follows from the parallelism" for number in numbers)
                yield Found(
                    f"{node.name!r} has the max parallelism {one}, and runs in one task with {keyed[0].name!r}, which "
                    f"has {other}: Flink restores one of them wrongly, in silence (FLINK-40113). Give both the same.",
                    node.id,
                )


@rule("PS105")
def state_without_time_to_live(subject: Subject, node: StreamNode) -> Iterator[str]:
    """A program never ends, and a function keeps state for every key for ever.

    Every new key adds state, and nothing removes it: the function never calls `clear()` or `remove()`, and the state
    has no time to live. If the number of keys is limited, such as countries, suppress the finding.

          class Last(KeyedProcessFunction):
              def open(self, runtime_context):
        -         self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))
        +         last = ValueStateDescriptor("last", Types.LONG())
        +         last.enable_time_to_live(StateTtlConfig.new_builder(Time.days(30)).build())
        +         self.last = runtime_context.get_state(last)

              def process_element(self, value, ctx):
                  self.last.update(value[1])

          orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()
    """
    functions = subject.own_functions(node.id) if node.id in subject.endless and subject.keyed(node) else ()
    if not functions or any(subject.inspector.uses(function).attributes & _REMOVING for function in functions):
        return
    for state in subject.states.get(node.id) or ():
        if state.kind in _KEYED_KINDS and state.ttl is None and not subject.built_in(node):
            yield (
                f"The state {state.name!r} of {node.name!r} stays for every key for ever: it has no time to live, and "
                "the function never calls clear(). Call enable_time_to_live(…) of its descriptor, or clear() in a "
                "timer."
            )


@rule("PS106", resumable(nodes))
def undeclared_state_type(subject: Subject, node: StreamNode) -> Iterator[str]:
    """The type of a state is not declared, so its values are pickled.

    A pickled value has the form that its class had when it was written, and Flink cannot evolve it. When the class
    gains or loses a field, moves or is renamed, old values cannot be told from new ones. Declared types can change
    (docs/restoring.md), take less space, and show what a savepoint contains.

          class Last(KeyedProcessFunction):
              def open(self, runtime_context):
        -         self.last = runtime_context.get_state(ValueStateDescriptor("last"))
        +         self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

              def process_element(self, value, ctx):
                  self.last.update(value[1])

          orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()
    """
    for state in subject.states.get(node.id) or () if not subject.built_in(node) else ():
        incomplete = len(state.types) < (2 if state.kind == "map" else 1)
        pickled = incomplete or any("PICKLED" in declared for declared in state.types.values())
        if state.kind in _KEYED_KINDS and pickled:
            yield (
                f"The state {state.name!r} of {node.name!r} has no declared type: its values are pickled, and cannot "
                "change their form. Give the descriptor the types, such as Types.LONG()."
            )


@rule("PS107")
def uneven_key_groups(subject: Subject, node: StreamNode) -> Iterator[str]:
    """Some subtasks have twice the key groups of others.

    With a max parallelism between one and two times the parallelism, subtasks with one key group
    wait for those with two. Use a multiple of the parallelism, or at least ten times as many.

        - orders.key_by(lambda order: order[0]).sum(1).set_parallelism(100).set_max_parallelism(128).print()
        + orders.key_by(lambda order: order[0]).sum(1).set_parallelism(100).set_max_parallelism(1000).print()
    """
    groups, subtasks = node.max_parallelism, node.parallelism
    if 0 < subtasks < groups < 2 * subtasks and subject.keyed(node):
        yield (
            f"{node.name!r} has {groups} key groups for {subtasks} subtasks: some get two of them, others one. Set a "
            f"max parallelism that is a multiple, such as {subtasks * 8}."
        )
