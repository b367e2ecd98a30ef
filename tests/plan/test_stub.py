"""The stubs of the native module say what it has: names, docstrings, signatures with their defaults."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock import _native
from penstock.errors import ExecutionGraphError
from penstock.plan import StreamGraphBuilder, shapes

ROOT = Path(penstock.__file__).parent
DOOR = ast.parse((ROOT / "_native.pyi").read_text())
PARTS = {file.stem: ast.parse(file.read_text()) for file in sorted((ROOT / "_stubs").glob("[!_]*.pyi"))}
BODIES = [node for tree in [DOOR, *PARTS.values()] for node in tree.body]
CLASSES = {node.name: node for node in BODIES if isinstance(node, ast.ClassDef)}
FUNCTIONS = {node.name: node for node in BODIES if isinstance(node, ast.FunctionDef)}

BASES = {node.name for node in PARTS["state"].body if isinstance(node, ast.ClassDef)} - {"Timer"}
"""Classes that Python makes others of."""

Parameter = tuple[str, inspect._ParameterKind, Any]
"""Name, kind, and default: ``empty`` where there is none, ``...`` where it is not shown."""

EMPTY = inspect.Parameter.empty

HIDDEN = {
    ("StreamGraphBuilder.add_node", "slot_sharing_group"): "default",
    ("StreamGraphBuilder.add_node", "parallelism"): -1,
    ("StreamGraphBuilder.add_node", "max_parallelism"): -1,
    ("StreamGraphBuilder.add_node", "buffer_timeout"): -1,
    ("StreamGraphBuilder.add_iteration", "max_parallelism"): -1,
    ("StreamGraph.job_graph", "additional_hashes"): ...,
    ("StreamGraph.job_graph", "artifacts"): ...,
    ("KeyedCounts.__new__", "programs"): ...,
    ("KeyedWindows.__new__", "programs"): ...,
    ("ExecutionGraph.execution_edges", "limit_bytes"): 4 << 30,
    ("ExecutionGraph.execution_edge_chunks", "chunk_size"): 1 << 20,
    ("ExecutionGraph.regions_to_restart", "lost"): [],
    ("ExecutionGraph.executions", "history"): 16,
}
"""Defaults that the module itself shows as ``...``, which only behaviour can tell; what the stubs say of them."""


def public(names: list[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def protocols(names: list[str]) -> set[str]:
    """Such as ``__len__``; not what every object has."""
    return {name for name in names if name.startswith("__") and not hasattr(object, name)}


def fields(node: ast.ClassDef) -> set[str]:
    return {
        item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
    return {item.name: item for item in node.body if isinstance(item, ast.FunctionDef)}


def decorators(node: ast.FunctionDef | ast.ClassDef) -> set[str]:
    return {item.id for item in node.decorator_list if isinstance(item, ast.Name)}


def in_stub(node: ast.FunctionDef, *, bound: bool) -> list[Parameter]:
    """The parameters in a stub, ``self`` left out."""
    arguments, kinds = node.args, inspect._ParameterKind
    places = [(item, kinds.POSITIONAL_ONLY) for item in arguments.posonlyargs]
    places += [(item, kinds.POSITIONAL_OR_KEYWORD) for item in arguments.args]
    defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    places += [(item, kinds.KEYWORD_ONLY) for item in arguments.kwonlyargs]
    value = [EMPTY if default is None else ast.literal_eval(default) for default in [*defaults, *arguments.kw_defaults]]
    assert arguments.vararg is None
    assert arguments.kwarg is None
    return [(item.arg, kind, default) for (item, kind), default in zip(places, value, strict=True)][bound:]


def in_module(function: Any) -> list[Parameter]:
    """The parameters of the thing itself, ``self`` left out; settings that it hands on are those of the builder."""
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            parameters += in_module(StreamGraphBuilder)
        elif name != "self":
            parameters.append((name, parameter.kind, parameter.default))
    return parameters


def callables() -> Iterator[tuple[str, ast.FunctionDef, list[Parameter], list[Parameter]]]:
    """Every function, method and constructor: its name, its stub, its parameters in the stub and in the module."""
    for name, node in FUNCTIONS.items():
        yield name, node, in_stub(node, bound=False), in_module(getattr(_native, name))
    for owner, node in CLASSES.items():
        for name, item in methods(node).items():
            if "property" not in decorators(item):
                thing = getattr(_native, owner)
                bound = "staticmethod" not in decorators(item)
                real = in_module(thing if name == "__new__" else getattr(thing, name))
                yield f"{owner}.{name}", item, in_stub(item, bound=bound), real


def test_the_stubs_and_the_module_have_the_same_names() -> None:
    assert public(dir(_native)) == CLASSES.keys() | FUNCTIONS.keys()
    for name, node in CLASSES.items():
        # penstock.plan has given the first to the graphs, and pickling one of them leaves the second with its class
        has = set(dir(getattr(_native, name))) - {"__rich__", "__slotnames__"}
        assert public([*methods(node), *fields(node)]) == public(has), name
        assert protocols([*methods(node)]) == protocols(has), name
    assert len(CLASSES) > 15


def test_the_door_names_every_part() -> None:
    named = {node.module for node in DOOR.body if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"}
    assert named == {f"penstock._stubs.{part}" for part in PARTS}
    assert len(PARTS) > 4


def test_docstrings_are_the_same_in_both() -> None:
    looked_at = 0
    for name, node in CLASSES.items():
        assert inspect.getdoc(getattr(_native, name)) == ast.get_docstring(node), name
        for item in methods(node).values():
            if not item.name.startswith("__"):
                looked_at += 1
                assert ast.get_docstring(item), f"{name}.{item.name} has no docstring"
                assert inspect.getdoc(getattr(getattr(_native, name), item.name)) == ast.get_docstring(item), item.name
    for name, node in FUNCTIONS.items():
        assert inspect.getdoc(getattr(_native, name)) == ast.get_docstring(node), name
    assert looked_at > 80


def test_signatures_are_the_same_in_both() -> None:
    looked_at, hidden = 0, {}
    for name, _, stub, real in callables():
        looked_at += 1
        assert [parameter[:2] for parameter in stub] == [parameter[:2] for parameter in real], name
        for (parameter, _, declared), (_, _, shown) in zip(stub, real, strict=True):
            if shown is ...:
                hidden[name, parameter] = declared
            else:
                assert (declared, type(declared)) == (shown, type(shown)), f"{name}: {parameter}"
    assert hidden == HIDDEN
    assert looked_at > 90


def test_everything_has_a_type() -> None:
    looked_at = 0
    for node in [*FUNCTIONS.values(), *(item for owner in CLASSES.values() for item in methods(owner).values())]:
        looked_at += 1
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        assert node.returns is not None, node.name
        assert [item.arg for item in parameters if item.annotation is None] in ([], ["self"], ["cls"]), node.name
    assert looked_at > 150


def test_fields_cannot_be_set() -> None:
    views = [(name, node) for name, node in CLASSES.items() if fields(node)]
    for name, node in views:
        annotations = [item.annotation for item in node.body if isinstance(item, ast.AnnAssign)]
        assert {ast.unparse(item).partition("[")[0] for item in annotations} == {"Final"}, name
    assert len(views) > 8
    with pytest.raises(AttributeError, match="not writable"):
        setattr(shapes.all_to_all(2).nodes[0], "id", 3)  # noqa: B010


def test_classes_that_cannot_have_subclasses_are_final() -> None:
    for name in BASES:
        assert type("Sub", (getattr(_native, name),), {}).__mro__[1] is getattr(_native, name)
        assert not decorators(CLASSES[name]), name
    for name, node in CLASSES.items():
        if name in BASES:
            continue
        with pytest.raises(TypeError, match="not an acceptable base type"):
            type("Sub", (getattr(_native, name),), {})
        assert decorators(node) == {"final"}, name


def hidden(function: str) -> dict[str, Any]:
    return {parameter: value for (owner, parameter), value in HIDDEN.items() if owner == function}


def test_hidden_defaults_of_the_builder() -> None:
    plain, explicit = StreamGraphBuilder(), StreamGraphBuilder()
    for builder, node, loop in [
        (plain, {}, {}),
        (explicit, hidden("StreamGraphBuilder.add_node"), hidden("StreamGraphBuilder.add_iteration")),
    ]:
        builder.add_node(1, "Source", "source", **node)
        builder.add_iteration(1, 2, 3, parallelism=1, **loop)
    assert plain.build().to_json() == explicit.build().to_json()


def test_hidden_defaults_of_an_execution_graph() -> None:
    graph = shapes.all_to_all(1100).job_graph(additional_hashes=[], artifacts={}).execution_graph()
    assert len(next(graph.execution_edge_chunks())) == 1 << 20
    assert graph.regions_to_restart(0, 0).regions == graph.regions_to_restart(0, 0, lost=[]).regions
    attempts = graph.executions()
    for _ in range(20):
        attempts.transition(0, 0, "CANCELED")
        attempts.reset(0, 0)
    assert len(attempts.prior(0, 0)) == 16
    large = shapes.all_to_all(20_000).job_graph().execution_graph()
    with pytest.raises(ExecutionGraphError, match=str(4 << 30)):
        large.execution_edges()
