"""PS510 to PS517: functions whose results are not what their operator takes for records."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress

from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, TupleTypeInfo
from penstock.lint.bodies import always_none, assigned, function_called, is_none, is_text, may_end, own_nodes, results
from penstock.lint.inspection import class_of
from penstock.lint.rule import bodies, methods, rule
from penstock.lint.shapes import Shape, difference, shape_of, shape_of_type, shape_of_value
from penstock.lint.sources import Source
from penstock.lint.subject import Body, Subject
from penstock.runtime.io.sources import CollectionSource
from penstock.runtime.operators.elementwise import StreamFilter, StreamFlatMap, StreamMap
from penstock.runtime.operators.source import StreamSource
from penstock.runtime.operators.watermarks import TimestampsAndWatermarks

_SAMPLE = 100  # records of a collection that are looked at
_OPTIONAL = ("on_timer", "open", "close", "clear", "timeout")
"""Methods that the bases of functions have, so that leaving them out is not an error."""
_OF_TEXTS = frozenset(
    {"isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric", "isspace"}
    | {"istitle", "isupper", "startswith", "endswith", "splitlines", "lstrip", "rstrip", "casefold", "swapcase"}
)
"""Methods of texts whose names nobody gives to a field."""


@rule("PS510", methods("one", "test"))
def missing_result(subject: Subject, body: Body, source: Source) -> str:
    """A function that must return a record returns None.

    The result of `map`, `reduce` or `add` of an aggregation is the next record, or the next value. Where there is no
    `return`, that is None, and the next function fails on it, or the value so far is lost. To leave records out use
    `filter`, or `flat_map` that yields nothing. A `map` in front of a filter, and an explicit `return None` beside
    other results, are not reported.

          def amount(order):
              if order[1] > 0:
        -         return order[1]
        +         yield order[1]

        - orders.map(amount).print()
        + orders.flat_map(amount).print()
    """
    readers = [subject.operator(edge.target) for edge in subject.outputs[body.node.id]]
    filtered = source.name == "map" and readers and all(isinstance(reader, StreamFilter) for reader in readers)
    if source.is_generator or source.is_coroutine or filtered:
        return ""
    returned, always, test = results(source.tree), always_none(source), source.name == "filter"
    sometimes = any(not is_none(value) for value in returned) and (None in returned or may_end(source.tree))
    if not always and (test or not sometimes):
        return ""
    when = "always" if always else "for some records, where it has no return,"
    effect = "no record passes" if test else "None goes on in the place of the record"
    return (
        f"The function {body.title} {when} gives None: {effect}. Return a value on every way through, or leave records "
        "out by filter() or flat_map()."
    )


@rule("PS511", methods("yield", "many"))
def return_instead_of_yield(subject: Subject, body: Body, source: Source) -> str:
    """A process function returns a record instead of yielding it.

    The result of `process_element`, `on_timer`, or `process` and `apply` of a window is iterated, and each part becomes
    a record: the fields of a tuple, the characters of a text, the keys of a dict. In a function that also has a `yield`
    the returned value is dropped. Write `yield`.

          class Amounts(ProcessFunction):
              def process_element(self, value, ctx):
        -         return value[0], value[1]
        +         yield value[0], value[1]

          orders.process(Amounts()).print()
    """
    effect = _effect_of_return(source, subject.pipeline.types.get(body.node.id))
    return effect and f"{source.name}() of {body.title} returns a record instead of yielding it: {effect}. Write yield."


def _effect_of_return(source: Source, declared: object) -> str:
    returned = results(source.tree)
    if source.is_generator:
        nothing = [isinstance(value, ast.List | ast.Tuple) and not value.elts for value in returned]
        dropped = any(not (empty or is_none(value)) for value, empty in zip(returned, nothing, strict=True))
        return "in a function that yields, what is returned is dropped" if dropped else ""
    if source.name.startswith("flat_map"):
        return ""
    several = declared is not None and not isinstance(declared, TupleTypeInfo | RowTypeInfo)
    record = source.parameters[0] if source.name.startswith("process_element") and source.parameters else ""
    for value in returned:
        if isinstance(value, ast.Tuple) and value.elts and not several:
            return "each field of the tuple becomes a record"
        if isinstance(value, ast.Dict | ast.DictComp):
            return "each key of the dict becomes a record"
        if value is not None and function_called(value) == "Row":
            return "each field of the row becomes a record"
        if is_text(value, source):
            return "each character of the text becomes a record"
        if isinstance(value, ast.Compare) or (isinstance(value, ast.Constant) and value.value is not None):
            return "it cannot be iterated, and the job fails"
        if isinstance(value, ast.Name) and value.id == record and not assigned(source.tree, record):
            return "each part of the record becomes a record"
    return ""


@rule("PS512", methods("many"))
def text_as_records(subject: Subject, body: Body, source: Source) -> str:
    """A `flat_map` returns one text, and each of its characters becomes a record.

    The result of `flat_map` is iterated: a text by characters, a tuple that is meant to be one record by fields. Return
    a list, `[text]`, or `yield` the record; or use `map`.

        - lines.flat_map(lambda line: line.lower(), Types.STRING()).print()
        + lines.flat_map(lambda line: line.lower().split(), Types.STRING()).print()
    """
    what = "" if source.is_generator else _flattened(subject, body, source)
    return what and (
        f"The function {body.title} returns {what} of it becomes a record. Return a list or yield the record, or use "
        "map()."
    )


def _flattened(subject: Subject, body: Body, source: Source) -> str:
    texts = source.parameters[:1] if _reads_texts(subject, body) else ()
    returned = results(source.tree)
    if any(is_text(value, source, texts=frozenset(texts)) for value in returned):
        return "a text, and each character"
    if isinstance(subject.pipeline.types.get(body.node.id), TupleTypeInfo | RowTypeInfo):
        for value in returned:
            parts = value.elts if isinstance(value, ast.Tuple) else []
            if parts and not any(isinstance(part, ast.Tuple | ast.Call | ast.Name | ast.Starred) for part in parts):
                return "one tuple, and each field"
    return ""


def _reads_texts(subject: Subject, body: Body) -> bool:
    """Whether a function has one input, which is declared to be texts."""
    edges = subject.inputs[body.node.id]
    declared = subject.declared(edges[0]) if len(edges) == 1 else None
    return isinstance(declared, BasicTypeInfo) and declared.basic_type is BasicType.STRING


@rule("PS513", bodies)
def generator_as_result(subject: Subject, body: Body) -> Iterator[str]:
    """A function that must return one record, or nothing, is a generator, or `async`.

    Calling it runs none of its code yet. The result of a `map` is then the generator or coroutine, which cannot be sent
    to another task; of a sink, `open()` and `close()` nothing is done at all. To return several records use `flat_map`
    or `process`; to wait for something use `AsyncDataStream`; to emit a rest at the end use a timer.

          def words(line):
              yield from line.split()

        - lines.map(words).print()
        + lines.flat_map(words).print()
    """
    one = [*body.called("one", "test")]
    for source in (*one, *body.called("many", "yield")):
        if source.is_coroutine or (source in one and source.is_generator):
            kind = "a coroutine" if source.is_coroutine else "a generator"
            yield (
                f"The function {body.title} makes {kind}, which is not a result. Use flat_map() to give several "
                "records, AsyncDataStream to wait for something."
            )
    once = body.sources("open", "close") if body.is_object else []
    for source in (*once, *body.called("nothing")):
        if source.is_coroutine or source.is_generator:
            kind = "is async" if source.is_coroutine else "yields"
            yield (
                f"{source.name}() of {body.title} {kind}: to call it makes an object, and nothing of it runs. Write it "
                "without that."
            )


@rule("PS514", bodies)
def misspelled_method(subject: Subject, body: Body) -> Iterator[str]:
    """A function has a method whose name nearly is that of a method that is called.

    `onTimer` is Java's name; in Python it is `on_timer`. Under another name the method is never called, and the
    inherited one does nothing.

          class Later(KeyedProcessFunction):
              def process_element(self, value, ctx):
                  ctx.timer_service().register_event_time_timer(value[2] + 60_000)

        -     def onTimer(self, timestamp, ctx):
        +     def on_timer(self, timestamp, ctx):
                  yield ctx.get_current_key()

          orders.key_by(lambda order: order[0]).process(Later()).print()
    """
    inherited = {_squeezed(name): name for name in _OPTIONAL if hasattr(class_of(body.function), name)}
    for name in body.methods:
        meant = inherited.get(_squeezed(name), name)
        if meant != name and meant not in body.methods:
            yield f"{body.title} has a method {name}(), which nobody calls; {meant}() is what is called. Rename it."


def _squeezed(name: str) -> str:
    return name.replace("_", "").lower()


def _records(source: Source) -> list[ast.expr]:
    """The records that a method yields or returns, as far as each is an expression of its own."""
    if source.is_generator:
        yields = [node.value for node in own_nodes(source.tree) if isinstance(node, ast.Yield) and node.value]
        return [value for value in yields if source.name.startswith("flat_map") or not _may_be_tagged(value)]
    returned = [result for result in results(source.tree) if result is not None]
    if source.name.startswith("map"):
        return returned
    lists = (value.elts for value in returned if isinstance(value, ast.List))
    return [part for parts in lists for part in parts if not _may_be_tagged(part)]


def _may_be_tagged(node: ast.expr) -> bool:
    """Whether a record may be one of a side output: a pair that begins with a tag."""
    return isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Name | ast.Attribute)


@rule("PS515", bodies)
def result_of_other_type(subject: Subject, body: Body) -> str:
    """The declared type of a result differs from what the function returns.

    `output_type` is a promise: the first operator that relies on it fails at the first record; others let the record
    through as it is. Declare what the function returns, with one field for each field of its tuple.

        - orders.map(lambda order: (order[0], 1), output_type=Types.LONG()).print()
        + orders.map(lambda order: (order[0], 1), output_type=Types.TUPLE([Types.STRING(), Types.LONG()])).print()
    """
    declared = subject.pipeline.types.get(body.node.id)
    wanted = shape_of_type(declared)
    if wanted is None or isinstance(subject.operator(body.node.id), StreamFilter):
        return ""
    for source in body.called("one", "many", "yield"):
        returned = _records(source) if source.name != "reduce" and not source.is_coroutine else []
        other = next(filter(None, (difference(shape_of(value, source), wanted) for value in returned)), "")
        if other:
            return (
                f"{source.name}() of {body.title} gives {other}: its declared type is {declared}. Correct output_type, "
                "or the result."
            )
    return ""


@rule("PS516", bodies)
def reduce_of_other_shape(subject: Subject, body: Body) -> str:
    """The result of a reduction differs in shape from the records that it reduces.

    The result of `reduce` is the first argument of the next call. A function that returns the sum of a field instead of
    a whole record fails at the third record of a key. Return a record of the same shape, or use `aggregate` in a
    window, or a process function with state.

        - orders.key_by(lambda order: order[0]).reduce(lambda a, b: a[1] + b[1]).print()
        + orders.key_by(lambda order: order[0]).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).print()
    """
    source = body.methods.get("reduce") if "reduce" in body.hooks else None
    if source is None or len(source.parameters) != 2 or source.is_generator or source.is_coroutine:
        return ""
    record = _incoming(subject, body)
    other = next(filter(None, (_other(result, source, record) for result in results(source.tree))), "")
    return other and (
        f"The function {body.title} gives {other}. What it gives is its first argument the next time. Return a record "
        "of the same shape."
    )


def _incoming(subject: Subject, body: Body) -> Shape | None:
    """The shape of the records that reach an operator, by their type, or by the function that makes them."""
    node = body.node.id
    by_node = {other.node.id: other for other in subject.bodies}
    while len(subject.inputs[node]) == 1:
        [edge] = subject.inputs[node]
        declared, node = shape_of_type(subject.declared(edge)), edge.source
        operator = subject.operator(node)
        if edge.side_output is not None:
            return declared
        if declared is not None or not isinstance(operator, StreamFilter | TimestampsAndWatermarks):
            return declared or _output(operator, by_node.get(node))
    return None


def _output(operator: object, body: Body | None) -> Shape | None:
    """The shape of the records of an operator, if it makes them in one place, or reads them from a collection."""
    if isinstance(operator, StreamSource) and isinstance(operator.function, CollectionSource):
        shapes = {shape_of_value(element) for element in list(operator.function.elements)[:_SAMPLE]}
        return shapes.pop() if len(shapes) == 1 else None
    if body is None or not isinstance(operator, StreamMap | StreamFlatMap):
        return None
    source = body.methods[body.hooks[0]]
    returned = _records(source)
    return shape_of(returned[0], source) if len(returned) == 1 and not source.is_coroutine else None


def _other(result: ast.expr | None, source: Source, record: Shape | None) -> str:
    """How a result differs from records, as messages say it."""
    shape = shape_of(result, source)
    if record is not None:
        one = shape is None and record.fields and _is_calculated(result, source)
        return f"one field, not {record}" if one else difference(shape, record)
    keys = _keys_of_records(source)
    numbers = [key for key in keys if isinstance(key, int)]
    names = {key for key in keys if isinstance(key, str)}
    if shape is None:
        return "one field, and takes dicts" if names and _is_calculated(result, source) else ""
    if shape.kind == "tuple":
        most = max((key + 1 if key >= 0 else -key for key in numbers), default=0)
        return f"{shape}, and takes records of {most} or more" if most > len(shape.fields) else ""
    if shape.kind == "dict":
        literal = result.keys if isinstance(result, ast.Dict) else []
        known = {key.value for key in literal if isinstance(key, ast.Constant)}
        left_out = sorted(names - known) if known and len(known) == len(literal) else []
        return f"a dict without {left_out[0]!r}, and takes those that have it" if left_out else ""
    return f"{shape}, and takes records with fields" if names or (numbers and shape.kind == "number") else ""


def _is_calculated(node: ast.expr | None, source: Source) -> bool:
    """Whether an expression calculates with fields of records."""
    if isinstance(node, ast.BinOp):
        return all(_is_calculated(operand, source) or _is_field(operand, source) for operand in (node.left, node.right))
    if not isinstance(node, ast.Call) or function_called(node) not in ("max", "min"):
        return False
    return len(node.args) > 1 and all(_is_field(arg, source) for arg in node.args)


def _is_field(node: ast.expr, source: Source) -> bool:
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return isinstance(node, ast.Constant)
    return isinstance(node.value, ast.Name) and node.value.id in source.parameters


def _keys_of_records(source: Source) -> list[object]:
    """The positions and names by which a method takes fields of its arguments."""
    keys: list[object] = []
    for node in own_nodes(source.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in source.parameters:
            with suppress(ValueError, TypeError):  # an expression
                keys.append(ast.literal_eval(node.slice))
    return keys


@rule("PS517", methods("one", "test", "many", "yield"))
def method_not_called(subject: Subject, body: Body, source: Source) -> str:
    """A function returns a method of the record, and does not call it.

    Without the parentheses the result is the method itself, an object that is always true: a filter lets every record
    pass, and a key or a record cannot be sent. Write `line.isdigit()`.

        - lines.filter(lambda line: line.isdigit).print()
        + lines.filter(lambda line: line.isdigit()).print()
    """
    returned = [result for result in results(source.tree) if result is not None]
    returned += [node.value for node in own_nodes(source.tree) if isinstance(node, ast.Yield) and node.value]
    parts = [part for value in returned for part in (value.elts if isinstance(value, ast.Tuple) else [value])]
    texts = source.parameters[:1] if _reads_texts(subject, body) else ()
    name = next(filter(None, (_method(part, source, texts) for part in parts)), "")
    return name and f"The function {body.title} gives the method {name} and does not call it. Write {name}()."


def _method(node: ast.expr, source: Source, texts: tuple[str, ...]) -> str:
    """The method that an expression names, if it is certainly one of a text."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    if not isinstance(node, ast.Attribute):
        return ""
    owner = node.value
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    if not isinstance(owner, ast.Name) or owner.id not in source.parameters:
        return ""
    direct = owner is node.value and owner.id in texts and callable(getattr(str, node.attr, 0))
    return ast.unparse(node) if node.attr in _OF_TEXTS or direct else ""
