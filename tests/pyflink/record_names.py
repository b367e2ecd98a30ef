"""Records the names of PyFlink: ``python -m tests.pyflink.record_names [--uses API.md]`` writes ``names.tsv``."""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import penstock
from penstock.pyflink.names import FILE, Name, read

TABLE = Path(penstock.__file__).parent / "pyflink" / FILE
VERSIONS = {"1.20": "1.20.1", "2.3": "2.3.0"}
"""The version of the wheel by that of the column."""
ROOTS = ("common", "datastream", "metrics", "util", "java_gateway")
"""The parts of the package ``pyflink`` that a DataStream program meets."""
SPOKEN = {"__init__", "__call__", "__getitem__", "__setitem__", "__delitem__", "__iter__", "__len__", "__contains__"}
"""Special methods that a program calls by its syntax; ``__next__`` and the like come with them."""


def trees(wheel: Path) -> Iterator[tuple[str, ast.Module]]:
    """The public modules of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        for path in sorted(archive.namelist()):
            parts = path.removesuffix(".py").split("/")
            if not path.endswith(".py") or parts[0] != "pyflink" or parts[1] not in ROOTS or "tests" in parts:
                continue
            if parts[-1] == "__init__":
                parts.pop()
            if not any(part.startswith("_") for part in parts):
                yield ".".join(parts), ast.parse(archive.read(path))


def names(module: str, tree: ast.Module) -> Iterator[Name]:
    """What a module defines, and what it hands on from other modules of the package."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from of_class(module, node.name, node)
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            yield Name("", module, node.name, "function", parameters(node))
        elif isinstance(node, ast.Assign) and module.endswith(".constants"):
            yield Name("", module, ast.unparse(node.targets[0]), "constant", "")
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node in tree.body and is_public_module(node.module or ""):
            for alias in node.names:
                if not alias.name.startswith("_"):
                    yield Name("", module, alias.asname or alias.name, "import", f"{node.module}.{alias.name}")
        elif is_handed_on(node) and not node.args[1].value.startswith("_"):  # type: ignore[attr-defined]
            name, value = node.args[1].value, node.args[2]  # type: ignore[attr-defined]
            yield Name("", module, name, "import", f"pyflink.….{ast.unparse(value).rpartition('.')[2]}")


def is_public_module(name: str) -> bool:
    """Whether it is one of those that are recorded."""
    return name.startswith(tuple(f"pyflink.{root}" for root in ROOTS))


def is_handed_on(node: ast.AST) -> bool:
    """Whether it is ``setattr(module, "Name", Name)``: how packages keep the paths of older versions."""
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "setattr" and isinstance(node.args[1], ast.Constant)


def of_class(module: str, path: str, node: ast.ClassDef) -> Iterator[Name]:
    """A class, its members and the classes inside it."""
    yield Name("", module, path, "class", ", ".join(ast.unparse(base) for base in node.bases))
    for inner in node.body:
        if isinstance(inner, ast.ClassDef) and not inner.name.startswith("_"):
            yield from of_class(module, f"{path}.{inner.name}", inner)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and is_public(inner):
            yield Name("", module, f"{path}.{inner.name}", kind(inner), parameters(inner))
        elif isinstance(inner, ast.Assign | ast.AnnAssign):
            targets = inner.targets if isinstance(inner, ast.Assign) else [inner.target]
            for target in targets:
                if isinstance(target, ast.Name) and not target.id.startswith("_"):
                    yield Name("", module, f"{path}.{target.id}", "attribute", "")


def is_public(method: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a program may call it; not a constructor around an object of the JVM."""
    of_jvm = any(argument.arg.startswith("j_") for argument in method.args.args)
    return (method.name in SPOKEN and not of_jvm) or not method.name.startswith("_")


def kind(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """What decorators make of a method; ``refused`` if all it does is to raise an error that is not its absence."""
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    if body and isinstance(body[0], ast.Raise) and "NotImplemented" not in ast.unparse(body[0]):
        return "refused"
    decorators = {ast.unparse(decorator) for decorator in method.decorator_list} & {"staticmethod", "classmethod"}
    is_property = any("property" in ast.unparse(decorator) for decorator in method.decorator_list)
    return decorators.pop() if decorators else "property" if is_property else "method"


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """Their names, ``=`` behind those with a default."""
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    required = len(positional) - len(args.defaults)
    texts = [arg.arg + ("=" if place >= required else "") for place, arg in enumerate(positional)]
    if args.vararg is not None:
        texts.append(f"*{args.vararg.arg}")
    texts += [a.arg + ("" if d is None else "=") for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    if args.kwarg is not None:
        texts.append(f"**{args.kwarg.arg}")
    return ", ".join(texts[1:] if texts[:1] in (["self"], ["cls"]) else texts)


def merged(versions: dict[str, list[Name]]) -> list[Name]:
    """One line for what is the same in all versions."""
    by_key: dict[tuple[str, ...], list[str]] = {}
    for version, listed in versions.items():
        for name in listed:
            having = by_key.setdefault((name.module, name.path, name.kind, name.parameters), [])
            if version not in having:
                having.append(version)
    return sorted(Name("+".join(having), *key) for key, having in by_key.items())


def uses(page: str) -> dict[str, tuple[str, str]]:
    """Priority and count of files by ``Class.method``, out of a table."""
    by_method: dict[str, tuple[str, str]] = {}
    owner = ""
    for line in page.splitlines():
        if heading := re.match(r"## (\w+)  ", line):
            owner = heading[1]
        elif row := re.match(r"\| `(\w+).*\| ([^|]*) \| (\w+) \|$", line):
            count = re.search(r"\d+", row[2])
            by_method[f"{owner}.{row[1]}"] = (row[3], count[0] if count else "")
    return by_method


def download(version: str, folder: Path) -> Path:
    """The wheel of a version, from PyPI."""
    options = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.11", "--platform", "manylinux1_x86_64"]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", *options, "-d", str(folder)]
    subprocess.run([*pip, f"apache-flink=={version}"], check=True)
    return next(folder.glob(f"apache_flink-{version}-*.whl"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uses", type=Path, help="a table of methods with priorities")
    page = parser.parse_args().uses
    with tempfile.TemporaryDirectory() as folder:
        wheels = {column: download(version, Path(folder)) for column, version in VERSIONS.items()}
        all_names = {column: [n for tree in trees(w) for n in names(*tree)] for column, w in wheels.items()}
    known = uses(page.read_text()) if page else {name.path: (name.priority, name.uses) for name in read()}
    table = [
        name._replace(priority=p, uses=u) for name in merged(all_names) for p, u in [known.get(name.path, ("", ""))]
    ]
    lines = ["\t".join(line) for line in (Name._fields, *table)]
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TABLE}: {len(table)} names")


if __name__ == "__main__":
    main()
