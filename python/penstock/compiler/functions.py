"""User functions as programs: the entry of the compiler.

A user function is a plain function or lambda, a method, an object with the method that its operator calls, a partial
function, a getter of the module ``operator``, or a builtin. Cost: below a millisecond for most functions, after their
file has been parsed.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass, field, replace
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType
from typing import Any

from penstock.common.callables import ROLES, is_rich, shown
from penstock.compiler import kinds
from penstock.compiler.aliases import aliases_of
from penstock.compiler.bodies import Body
from penstock.compiler.constructors import with_attributes
from penstock.compiler.dates import GIVES, gives_no_columns
from penstock.compiler.imports import imports_of, stored_names
from penstock.compiler.invocations import Invocation, bound_method, member, parameters_of, plain_function
from penstock.compiler.iterators import iterators_of
from penstock.compiler.kept import kept_by, variable, with_kept
from penstock.compiler.lists import Lists, lists_of
from penstock.compiler.names import (
    CONTEXT,
    PAIR_CONTEXT,
    Context,
    Opened,
    Scope,
    Static,
    assigned_names,
    body_of,
)
from penstock.compiler.opened import opened_by
from penstock.compiler.patterns import matches_of
from penstock.compiler.process import is_context, states_of
from penstock.compiler.process_states import KeyedStates
from penstock.compiler.program import Compiled, Json, Refusal, RefusedError, program_text
from penstock.compiler.signatures import LIBRARY, Use
from penstock.compiler.trees import TREES, Absence, ParsedFile, Tree, Trees
from penstock.compiler.trigger_states import trigger_states
from penstock.compiler.walruses import with_plain_assignments
from penstock.compiler.windows import with_window

_LONGEST = 1 << 20


@dataclass(frozen=True)
class CompiledAggregate:
    """The methods of an AggregateFunction as programs."""

    create_accumulator: Compiled
    add: Compiled
    get_result: Compiled
    merge: Compiled | Refusal  # only merging windows need it


def compile_function(function: Any, kind: str, trees: Trees = TREES) -> Compiled | Refusal:
    """A user function of an operator as a program, or the reason why it stays in Python; ``kind`` is one of
    :data:`~penstock.compiler.kinds.KINDS`."""
    method, _ = kinds.KINDS[kind]
    unit = _Unit(trees, context=kinds.CONTEXTS.get(kind, CONTEXT))
    count = kinds.ARGUMENTS.get(kind) or len(ROLES[method].arguments) - (kind in kinds.WITHOUT_KEY)
    try:
        unit.compile_entry(function, kind, count)
    except RefusedError as error:
        return _refusal(error)
    except RecursionError:
        return Refusal("its expressions are nested too deeply")
    except Exception as error:  # an object of the user's that is not what it seems must not end the program
        return Refusal(f"it cannot be looked at: {type(error).__name__}: {error}")
    text = program_text(unit.functions, len(unit.states.native), unit.classes)
    if len(text) > _LONGEST:
        return Refusal(f"its constants have more than {_LONGEST >> 20} MB")
    states = tuple((name, *state) for name, state in unit.states.native.items())
    return Compiled(text, tuple(unit.names[unit.entry + 1 :]), states, tuple(unit.tags), *unit.kept_attributes)


def compile_aggregate(function: Any) -> CompiledAggregate | Refusal:
    """The methods of an AggregateFunction as programs, or the reason why it stays in Python."""
    create_accumulator, add, get_result, merge = (compile_function(function, kind) for kind in kinds.AGGREGATE)
    if isinstance(create_accumulator, Refusal):
        return create_accumulator
    if isinstance(add, Refusal):
        return add
    return (
        get_result if isinstance(get_result, Refusal) else CompiledAggregate(create_accumulator, add, get_result, merge)
    )


def _refusal(error: RefusedError) -> Refusal:
    line, column = error.place or (None, None)
    return Refusal(error.reason, error.file, line, column)


@dataclass
class _Unit:
    """The functions of one program while it is compiled; the first is the one that the operator calls."""

    trees: Trees
    context: Context = CONTEXT
    functions: list[Json] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)  # what the numbers are known by, so that their ids stay
    pending: list[tuple[int, ...]] = field(default_factory=list)
    opened: Opened | None = None
    makes_sets: bool = False
    is_pure: bool = False  # it only looks at its arguments: they do not change, and it has no state
    states: KeyedStates = field(default_factory=KeyedStates)
    tags: list[str] = field(default_factory=list)
    answering: FunctionType | None = None  # the method of a trigger that answers with a TriggerResult
    merging: FunctionType | None = None  # the function that makes two accumulators one
    kept_attributes: tuple[tuple[str, ...], int] = (), 0
    classes: list[tuple[type, tuple[str, ...]]] = field(default_factory=list)  # whose objects it makes, with attributes
    blank: object = field(default_factory=object)  # the object that an ``__init__`` gets
    entry: int = 0  # the number of the user's function; the one before emits what it gives

    def compile_entry(self, function: Any, kind: str, count: int) -> None:
        """The function that an operator calls, with so many arguments."""
        method, result = kinds.KINDS[kind]
        self.makes_sets = method == "create_accumulator"
        self.is_pure = method not in (*kinds.ACCUMULATORS, *kinds.WITH_CONTEXT, *kinds.OF_TRIGGER, *kinds.KEEPING)
        called = bound_method(function, method)
        if called is not function:
            if method in kinds.WITH_CONTEXT or kind in kinds.OF_KEY:
                self._look_at_open(function)
            elif method not in kinds.KEEPING:
                self._check_lifecycle(function, method)
        plain, first, keywords = plain_function(called)
        if plain is None or plain in LIBRARY:
            if method in (*kinds.SEES_WINDOW, *kinds.WITH_CONTEXT, *kinds.OF_TRIGGER, *kinds.KEEPING):
                raise RefusedError("it is not written in Python")
            self._compile_stand_in(called, count, result, method)
            return
        emits, changes = method in kinds.EMITTING, kinds.ACCUMULATORS.get(method, ())
        if method in kinds.OF_TRIGGER:
            self.states = trigger_states(function)
        if method in kinds.WITH_CONTEXT or method in kinds.OF_TRIGGER:
            count -= 1
            keywords = {**keywords, self._context_name(plain, len(first) + count): self.context}
        if kind in kinds.OF_KEY and not emits:
            self._emit_result(method)
        self.compile(plain, Invocation(first, keywords, result, count, emits, changes, method))
        if result is not Use.READ and gives_no_columns(self.functions[self.entry]["body"]):
            error = RefusedError(GIVES)
            _place(error, plain, self.trees)
            raise error
        if kind == "flat_map_of_key":
            self._doubt_none(plain)

    def _emit_result(self, method: str) -> None:
        """Begin with a function that emits what the next one gives for a record, or the record if that is true."""
        result, record = ["call", 1, ["local", 0]], ["local", 0]
        statement = ["if", result, [["yield", record]], []] if method == "filter" else ["yield", result]
        self.functions.append({"params": 1, "locals": 1, "body": [statement]})
        self.names.append(method)
        self.entry = 1

    def _doubt_none(self, function: FunctionType) -> None:
        """Begin with a function that is in doubt where the user's gives None, which is nothing to go through."""
        users = self.functions[0]
        if function.__code__.co_flags & CO_GENERATOR or '["yield",' in program_text([users]):
            return
        result = ["local", 1]
        if_none = ["if", ["compare", result, "is", ["const", None]], [["return", ["neg", result]]], []]
        body = [["set", 1, ["call", len(self.functions), ["local", 0]]], if_none, ["return", result]]
        self.functions = [{"params": 1, "locals": 2, "body": body}, *self.functions[1:], users]

    def _context_name(self, plain: FunctionType, place: int) -> str:
        code = plain.__code__
        if place >= code.co_argcount:
            raise RefusedError(f"{plain.__name__} takes no context")
        return code.co_varnames[place]

    def _look_at_open(self, function: Any) -> None:
        """See what ``open`` of a process function leaves in its attributes; Python calls it, and ``close``."""
        method = member(function, "open")
        plain = getattr(method, "__func__", method)
        tree = self.trees.of(plain) if isinstance(plain, FunctionType) else None
        if isinstance(plain, FunctionType) and isinstance(tree, ast.FunctionDef):
            file = self.trees.file(plain.__code__.co_filename, plain.__globals__)
            self.states = states_of(function, plain, tree, file, self.trees)
            if self.context is PAIR_CONTEXT and self.states.native:
                raise RefusedError("native joins call functions without state of their own")
            self.opened = None if file is None else opened_by(function, plain, tree, file)

    def _check_lifecycle(self, function: Any, called: str) -> None:
        """Refuse an object that does something before or after its records, but for an ``open`` that only leaves
        constants behind."""
        if not is_rich(function):
            return
        for name in ("open", "close"):
            method = member(function, name)
            plain = getattr(method, "__func__", method)
            if hasattr(plain, "_penstock_hook") or plain is None:
                continue
            tree = self.trees.of(plain) if isinstance(plain, FunctionType) else None
            if isinstance(tree, ast.FunctionDef) and all(map(_is_empty, tree.body)):
                continue
            if name == "open" and called in kinds.OPENED and isinstance(tree, ast.FunctionDef):
                file = self.trees.file(plain.__code__.co_filename, plain.__globals__)
                self.opened = None if file is None else opened_by(function, plain, tree, file)
            if name == "close" or self.opened is None:
                error = RefusedError(f"{type(function).__name__} has its own {name}()")
                if isinstance(plain, FunctionType):
                    error.file = plain.__code__.co_filename
                    error.place = (plain.__code__.co_firstlineno, 1)
                raise error

    def _compile_stand_in(self, called: Any, count: int, result: Use, method: str) -> None:
        """Something that is not written in Python, perhaps with its first arguments, called by a function that stands
        for it."""
        bound: list[Any] = []
        while type(called) is functools.partial and not called.keywords:
            called, bound = called.func, [*called.args, *bound]
        names = ["value", "other"][:count]
        arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
        first = [f"argument {number}" for number in range(len(bound))]
        values: list[ast.expr] = [ast.Name(name, ast.Load()) for name in (*first, *names)]
        call = ast.Call(ast.Name("function", ast.Load()), values, [])
        nothing = ParsedFile("", [], ast.Module([], []), {}, {})
        title = shown(called).removeprefix("the class ").removeprefix("the function ")
        statics = {name: Static(value, name) for name, value in zip(first, bound, strict=True)}
        statics["function"] = Static(called, title)
        scope = Scope(_stand_in, nothing, self.trees, statics, frozenset(names))
        tree = ast.Lambda(arguments, call)
        self.functions.append(None)
        self.names.append(method)
        self.functions[0] = self._translate(scope, tree, names, result, lists_of(tree, set(names), emits=False))

    def compile(self, function: FunctionType, call: Invocation) -> int:
        """The number of a function of the program that is called in some way."""
        first, keywords = call.first, call.keywords
        key = (id(function), *map(id, first), -1, *(part for k, v in keywords.items() for part in (hash(k), id(v))))
        if key in self.pending:
            raise RefusedError(f"{function.__name__} calls itself")
        if key in self.numbers:
            return self.numbers[key]
        number = len(self.functions)
        self.functions.append(None)
        self.names.append(function.__qualname__)
        self.kept += [function, *first, *keywords.values()]
        self.pending.append(key)
        code = function.__code__
        try:
            tree = self.trees.of(function)
            if isinstance(tree, Absence):
                raise RefusedError(str(tree))
            file = self.trees.file(code.co_filename, function.__globals__)
            if file is None:
                raise RefusedError("its source is not available")
            tree = with_plain_assignments(tree)
            if call.method in kinds.SEES_WINDOW:
                parameter = parameters_of(function, call, tree)[0][-2]  # with and without a key
                tree = with_window(tree, parameter, context=call.method == "process")
            elif call.method in kinds.OF_TRIGGER:
                tree = with_window(tree, parameters_of(function, call, tree)[0][-1], context=False)
            elif call.makes:
                tree = with_attributes(tree, code.co_varnames[0], call.makes)
            elif call.method in kinds.KEEPING:
                itself = code.co_varnames[0] if first else ""
                names, _ = self.kept_attributes = kept_by(first[0], tree, itself) if first else ((), 0)
                tree = with_kept(tree, itself, names)
                call = replace(call, kept=[variable(itself, name) for name in names])
            self.merging = function if call.method == "merge" else None
            self.answering = function if call.method in kinds.ANSWERING else None
            self.functions[number] = self._compile(function, call, file, tree)
        except RefusedError as error:
            _place(error, function, self.trees)
            raise
        self.pending.pop()
        self.numbers[key] = number
        return number

    def _compile(self, function: FunctionType, call: Invocation, file: ParsedFile, tree: Tree) -> Json:
        flags = function.__code__.co_flags
        if flags & (CO_COROUTINE | CO_ASYNC_GENERATOR):
            raise RefusedError("is async", tree)
        if flags & (CO_VARARGS | CO_VARKEYWORDS):
            raise RefusedError("takes any number of arguments", tree)
        is_generator = bool(flags & CO_GENERATOR)
        if is_generator and not (call.emits or call.yields):
            raise RefusedError("is a generator, and its result is used as a value", tree)
        parameters, statics = parameters_of(function, call, tree)
        parameters = [*call.kept, *parameters]
        assigned = assigned_names(tree)
        asked = bool(statics) or any(isinstance(part, ast.Import | ast.ImportFrom) for part in body_of(tree))
        stored = (
            {name for part in body_of(tree) for node in ast.walk(part) for name in stored_names(node)}
            if asked
            else set()
        )
        initial = {name: static for name, static in statics.items() if name in stored}
        statics = {name: static for name, static in statics.items() if name not in stored}
        statics.update(imports_of(tree, stored))
        scope = Scope(function, file, self.trees, statics, assigned, opened=self.opened, states=self.states)
        scope.tags = self.tags if any(map(is_context, statics.values())) else None
        accumulators = [name for place, name in enumerate(parameters) if place in call.changes]
        lists = lists_of(tree, set(parameters), emits=call.emits, accumulators=accumulators)
        if not call.method:  # native state has no objects in an accumulator
            lists = replace(lists, parts=frozenset())
        return self._translate(scope, tree, parameters, call.result, lists, is_generator, initial)

    def _translate(
        self,
        scope: Scope,
        tree: Tree,
        parameters: list[str],
        result: Use,
        lists: Lists,
        is_generator: bool = False,
        initial: dict[str, Static] | None = None,
    ) -> Json:
        for name in parameters:
            scope.numbers[name] = scope.fresh()
        aliases = aliases_of(scope, lists.values, tree)
        held = dict(self.states.lists.get(tree, {}))
        lists = replace(lists, growing=lists.growing.difference(aliases).union(held))
        iterators = iterators_of(tree, lists.growing)
        body = Body(self, scope, lists, iterators, result, is_generator or lists.sink is not None)
        body.matches = matches_of(scope, lists.values, tree)
        body.aliases = aliases
        states = list(self.states.native)
        body.held = {name: (states.index(attribute), scope.fresh()) for name, attribute in held.items()}
        statements: list[Json] = []
        for name, static in (initial or {}).items():
            number = scope.number(name)
            statements.append(["set", number, body.static_value(static, Use.KEEP, tree)])
        if isinstance(tree, ast.Lambda):
            statements.append(["return", body.expression(tree.body, result)])
        else:
            statements += body.statements(tree.body)
        return {"params": len(parameters), "locals": scope.count, "body": statements}


def _is_empty(node: ast.stmt) -> bool:
    """Whether a statement of ``open`` or ``close`` does nothing: pass, a docstring, the call of the base's method."""
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(("super().open(", "super().close("))


def _place(error: RefusedError, function: FunctionType, trees: Trees) -> None:
    """Say where it is that a function is refused, unless that is known."""
    if error.file is not None:
        return
    code = function.__code__
    error.file, error.place = code.co_filename, (code.co_firstlineno, 1)
    line, column = getattr(error.node, "lineno", None), getattr(error.node, "col_offset", None)
    file = trees.file(code.co_filename, function.__globals__)
    if line is not None and column is not None and file is not None and line <= len(file.lines):
        before = file.lines[line - 1].encode()[:column]
        error.place = (line, len(before.decode(errors="replace")) + 1)


def _stand_in() -> None:
    """The function for whose variables there are none."""
