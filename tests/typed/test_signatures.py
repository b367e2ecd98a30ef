"""The public API says Any only where a record, or what a user keeps, is really of any type."""

from __future__ import annotations

from tests.typed.signatures import anys, signatures

FIELDS = "keys and tuples by field have the types of the fields, which a position does not tell"
KEYS = "two streams side by side do not know the type of their keys"
MAPS = "a broadcast state may be a map of any types"
ROWS = "the fields of a row have any types"
COLLECTED = "which stream a sink collects, its id does not tell"
FORMS = "the forms of values that PyFlink hands to Java"
OBJECTS = "what the planner does not look into: the objects behind its ids"
POSITIONS = "where a source stands is plain data, of a form of its own"
FORMER = "what a former program has kept is of types that this one does not declare"
PAIRS = "elements, or pairs of elements and timestamps"

ALLOWED = {
    "BroadcastConnectedStream.process": (1, KEYS),
    "BroadcastStream.__init__": (2, MAPS),
    "CommonSetters.transformation": (1, "each kind of node has a class of its own"),
    "Configuration.add_all_to_dict": (1, "settings are texts, numbers, truth values and bytes"),
    "ConnectedStreams.process": (1, KEYS),
    "CountEvictor.evict": (2, PAIRS),
    "DataStream.broadcast": (4, MAPS),
    "DataStream.key_by": (2, FIELDS),
    "DataStream.project": (1, FIELDS),
    "DeltaEvictor.evict": (2, PAIRS),
    "JobExecutionResult.collected": (1, "records of several streams"),
    "JobExecutions.graph": (1, "a graph of the planner, which knows this package"),
    "KeepingEvictor.evict": (2, PAIRS),
    "KeyedStateStore.get_state": (1, "a name alone says nothing of the type"),
    "OperatorMetrics.user": (1, "aggregates of different kinds of metric"),
    "OperatorSetters.with_field_defaults": (1, ROWS),
    "Pipeline.operators": (1, OBJECTS),
    "Pipeline.partitioners": (1, OBJECTS),
    "Pipeline.types": (2, OBJECTS),
    "Program.collected": (1, COLLECTED),
    "Program.plan_settings": (1, "arguments of the planner, by name"),
    "ProgramWithSources.read_file": (2, "an input format says what it reads, and the default reads texts"),
    "Row.__init__": (2, ROWS),
    "Row.as_dict": (1, ROWS),
    "Row.get_fields_by_names": (1, ROWS),
    "Row.of_kind": (2, ROWS),
    "Row.of_values": (1, ROWS),
    "Row.values": (1, ROWS),
    "SingleOutputStreamOperator.__init__": (1, "made of a program, or as in PyFlink of a stream"),
    "Source.available": (1, POSITIONS),
    "Source.committed": (1, POSITIONS),
    "Source.pending": (1, POSITIONS),
    "Source.resume": (1, POSITIONS),
    "StateDescriptor.field_defaults": (1, FORMER),
    "StateDescriptor.migrated_by": (2, FORMER),
    "StateDescriptor.with_field_defaults": (1, FORMER),
    "StreamExecutionEnvironment.collected": (1, COLLECTED),
    "TimeEvictor.evict": (2, PAIRS),
    "TypeInformation.from_internal_type": (2, FORMS),
    "TypeInformation.to_internal_type": (2, FORMS),
    "WindowAssigner.default_trigger": (1, "windows of any kind"),
    "WindowAssigner.get_default_trigger": (1, "windows of any kind"),
    "WindowAssigner.get_window_serializer": (1, "windows of any kind"),
}
"""How often each of them says Any, and why."""


def test_any_stands_only_where_it_must() -> None:
    assert signatures() > 400, "no signatures were found"
    found = anys()
    assert {name: count for name, count in found.items() if count > ALLOWED.get(name, (0, ""))[0]} == {}


def test_the_list_of_exceptions_is_no_longer_than_it_must_be() -> None:
    found = anys()
    assert {name for name, (count, _) in ALLOWED.items() if found[name] < count} == set()
