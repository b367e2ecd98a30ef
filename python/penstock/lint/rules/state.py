"""PS1xx: how much state there is, how long it stays, and over how many subtasks it can be spread."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.analysis.model import StateModel
from penstock.lint.rule import Found, Rule
from penstock.lint.subject import Subject

_KEYED_KINDS = frozenset({"value", "list", "map", "reducing", "aggregating"})
_REMOVING = frozenset({"clear", "remove"})


class MaxParallelismNotSet(Rule):
    """An operator keeps state by key, and its max parallelism is left to Flink.

    State by key is kept in key groups, as many as the max parallelism, and their number cannot change without rewriting
    all state. Where it is not set it follows from the parallelism: 128, or more from a parallelism of 86 on. The number
    is then an accident of the first start, and the most subtasks there can ever be.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()

    Good::

        env.set_max_parallelism(720)
        orders.key_by(lambda order: order[0]).sum(1).uid("totals").print()
    """

    code = "PS101"
    default = False

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values() if subject.goes_on else ():
            if node.max_parallelism <= 0 and subject.keyed(node) and subject.stateful(node):
                yield Found(
                    f"{node.name!r} keeps state by key in {subject.key_groups(node)} key groups, because its "
                    f"parallelism is {node.parallelism}. Choose their number: set_max_parallelism(…) of the "
                    "environment.",
                    node.id,
                )


class MaxParallelismChanged(Rule):
    """The max parallelism of an operator with state by key is not the one in the lock file.

    State of another number of key groups cannot be read: Flink refuses the savepoint. Penstock takes the number of the
    savepoint over where the program says none, and refuses it likewise where the program says another one.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(256).print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).uid("totals").set_max_parallelism(128).print()
    """

    code = "PS102"
    found_by = "a `penstock.lock`"

    def find(self, subject: Subject) -> Iterator[Found]:
        locked = subject.known.max_parallelisms
        if not locked:
            return
        ids = subject.operator_ids
        for node in subject.nodes.values():
            known = locked.get(ids.get(node.id, ""))
            if known is not None and node.max_parallelism not in (-1, known) and subject.keyed(node):
                yield Found(
                    f"{node.name!r} has the max parallelism {node.max_parallelism}, and {known} in penstock.lock: its "
                    f"state cannot be read. Set it back, set_max_parallelism({known}), or rewrite the savepoint: "
                    "penstock savepoint set-max-parallelism.",
                    node.id,
                )


class ParallelismAboveMaxParallelism(Rule):
    """An operator has more subtasks than its max parallelism allows.

    Each key group belongs to one subtask, so there cannot be more subtasks than key groups. Flink refuses the job when
    it is deployed.

    Bad::

        orders.map(lambda order: order[1]).set_parallelism(8).set_max_parallelism(4).print()

    Good::

        orders.map(lambda order: order[1]).set_parallelism(4).set_max_parallelism(8).print()
    """

    code = "PS103"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            if 0 < node.max_parallelism < node.parallelism:
                yield Found(
                    f"{node.name!r} has the parallelism {node.parallelism} and the max parallelism "
                    f"{node.max_parallelism}: the job is refused. Lower the first, or raise the second.",
                    node.id,
                )


class MixedMaxParallelismInChain(Rule):
    """Operators with state by key share a task, and have different max parallelisms.

    A task has one max parallelism for all its operators. When it is restored, Flink cuts the state of each by the
    number of the task, and what lies in other key groups is lost or read by the wrong subtask, without a word
    (FLINK-40113).

    Bad::

        users = orders.key_by(lambda order: order[0])
        totals = users.sum(1).uid("totals").set_max_parallelism(128)
        again = DataStreamUtils.reinterpret_as_keyed_stream(totals, lambda order: order[0])
        again.process(Latest()).uid("latest").set_max_parallelism(256).print()

    Good::

        users = orders.key_by(lambda order: order[0])
        totals = users.sum(1).uid("totals").set_max_parallelism(256)
        again = DataStreamUtils.reinterpret_as_keyed_stream(totals, lambda order: order[0])
        again.process(Latest()).uid("latest").set_max_parallelism(256).print()
    """

    code = "PS104"

    def find(self, subject: Subject) -> Iterator[Found]:
        for chain in subject.chains:
            keyed = [node for node in map(subject.nodes.__getitem__, chain) if subject.keyed(node)]
            for node in keyed[1:]:
                if node.max_parallelism != keyed[0].max_parallelism:
                    yield Found(
                        f"{node.name!r} has the max parallelism {_told(node.max_parallelism)}, and runs in one task "
                        f"with {keyed[0].name!r}, which has {_told(keyed[0].max_parallelism)}: Flink restores one of "
                        "them wrongly, in silence (FLINK-40113). Give both the same.",
                        node.id,
                    )


def _told(max_parallelism: int) -> str:
    return str(max_parallelism) if max_parallelism > 0 else "that follows from the parallelism"


class StateWithoutTimeToLive(Rule):
    """A program never ends, and a function keeps state for every key for ever.

    Every new key adds state, and nothing takes it away: the function never calls `clear()` or `remove()`, and the state
    has no time to live. Where the number of keys has a limit, such as countries, that is right: suppress it there.

    Bad::

        class Last(KeyedProcessFunction):
            def open(self, runtime_context):
                self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

            def process_element(self, value, ctx):
                self.last.update(value[1])
                yield value


        orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()

    Good::

        class Last(KeyedProcessFunction):
            def open(self, runtime_context):
                last = ValueStateDescriptor("last", Types.LONG())
                last.enable_time_to_live(StateTtlConfig.new_builder(Time.days(30)).build())
                self.last = runtime_context.get_state(last)

            def process_element(self, value, ctx):
                self.last.update(value[1])
                yield value


        orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()
    """

    code = "PS105"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            functions = subject.own_functions(node.id) if node.id in subject.endless and subject.keyed(node) else ()
            if not functions or any(subject.inspector.uses(each).attributes & _REMOVING for each in functions):
                continue
            for state in subject.states.get(node.id) or ():
                if state.kind in _KEYED_KINDS and state.ttl is None and not subject.built_in(node):
                    yield Found(
                        f"The state {state.name!r} of {node.name!r} stays for every key for ever: it has no time to "
                        "live, and the function never calls clear(). Call enable_time_to_live(…) of its descriptor, "
                        "or clear() in a timer.",
                        node.id,
                    )


class UndeclaredStateType(Rule):
    """The type of a state is not declared, so its values are pickled.

    Pickled values have the form that their classes have when they are written. When a class gains or loses a field,
    moves or gets another name, old values cannot be told from new ones; Flink cannot evolve them at all. Declared types
    can change (docs/state-evolution.md), take less room, and say what is in a savepoint.

    Bad::

        class Last(KeyedProcessFunction):
            def open(self, runtime_context):
                self.last = runtime_context.get_state(ValueStateDescriptor("last"))

            def process_element(self, value, ctx):
                self.last.update(value[1])
                yield value


        orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()

    Good::

        class Last(KeyedProcessFunction):
            def open(self, runtime_context):
                self.last = runtime_context.get_state(ValueStateDescriptor("last", Types.LONG()))

            def process_element(self, value, ctx):
                self.last.update(value[1])
                yield value


        orders.key_by(lambda order: order[0]).process(Last()).uid("last").print()
    """

    code = "PS106"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values() if subject.goes_on else ():
            if subject.built_in(node):
                continue
            for state in subject.states.get(node.id) or ():
                if state.kind in _KEYED_KINDS and _pickled(state):
                    yield Found(
                        f"The state {state.name!r} of {node.name!r} has no declared type: its values are pickled, and "
                        "cannot change their form. Give the descriptor the types, such as Types.LONG().",
                        node.id,
                    )


def _pickled(state: StateModel) -> bool:
    """Whether a part of a state has no declared type, or one that says that it is pickled."""
    roles = 2 if state.kind == "map" else 1
    return len(state.types) < roles or any("PICKLED" in each for each in state.types.values())


class UnevenKeyGroups(Rule):
    """Some subtasks have twice the key groups of others.

    Key groups are dealt out whole. With a max parallelism that is less than twice the parallelism, and not equal to it,
    some subtasks have two groups and others one: half of the machines wait for the other half. A max parallelism that
    is a multiple of the parallelism, or ten times as large, is dealt out evenly.

    Bad::

        orders.key_by(lambda order: order[0]).sum(1).set_parallelism(100).set_max_parallelism(128).print()

    Good::

        orders.key_by(lambda order: order[0]).sum(1).set_parallelism(100).set_max_parallelism(1000).print()
    """

    code = "PS107"

    def find(self, subject: Subject) -> Iterator[Found]:
        for node in subject.nodes.values():
            groups, subtasks = node.max_parallelism, node.parallelism
            if 0 < subtasks < groups < 2 * subtasks and subject.keyed(node):
                yield Found(
                    f"{node.name!r} has {groups} key groups for {subtasks} subtasks: some get two of them, others "
                    f"one. Set a max parallelism that is a multiple, such as {subtasks * 8}.",
                    node.id,
                )
