"""What the documentation site needs to show pages and docstrings as they are written: small translations.

Pages mark programs that run on Spark with ``python spark`` (tests/docs reads it); Markdown knows the language alone.
They name files of the repository by relative paths; a file outside docs/ is no page of the site, but one of GitHub's.
Docstrings name things as Sphinx does, ``:class:`X` ``, and announce code by ``::``; Markdown knows neither. The graphs
say of a dozen keyword arguments that they are those of another call, which is no parameter of the signature. And fields
are described by a comment behind them, which griffe does not read.

Used twice by mkdocs.yml: as a hook of MkDocs and as an extension of griffe, which reads the docstrings.
"""

from __future__ import annotations

import functools
import re
import tokenize
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
REPORT = "benches/report"
REPOSITORY = "https://github.com/penstock/penstock"

MOVED = {
    "async": "datastream/#asynchronous-calls",
    "figures": "performance/#targets",
    "bootstrap": "savepoints/#bootstrap-state-from-a-table",
    "exactly-once": "streaming/#exactly-once",
    "flink-savepoints": "savepoints/#savepoints-of-apache-flink",
    "state-files": "reference/state-files/#layout-of-format-1",
    "state-evolution": "restoring/#when-types-change",
    "upgrading": "never-lose-state/#upgrade-a-program-and-go-back",
    "serialization": "types/#bytes-and-records",
    "storage": "files/#stores",
    "streams": "datastream/#several-streams",
    "what-survives": "restoring/#what-survives-what",
    "windows": "time/#windows",
}
"""Pages that are gone, and where their content is now: their old addresses lead there."""

_ROLE = re.compile(r":(?:class|meth|func|mod|attr|data|exc):`~?([^`]+)`")
_ANNOUNCED = re.compile(r"::$", re.MULTILINE)
_SETTINGS = re.compile(r"^Args:\n((?:.+\n)*?) +\*\*settings: (.+)\n", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """MkDocs: the plots of the benches are part of the site."""
    for plot in sorted((ROOT / REPORT).glob("*.png")):
        files.append(File.generated(config, f"report/{plot.name}", abs_src_path=str(plot)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """MkDocs: a page before it is rendered."""
    markdown = re.sub(r"^```(\w+) spark$", r"```\1", markdown, flags=re.MULTILINE)
    if "/" in page.file.src_uri:  # in a folder, so ../ is still a page
        return markdown
    markdown = re.sub(rf"\]\(\.\./{REPORT}/(\w+\.png)\)", r"](report/\1)", markdown)
    return re.sub(r"\]\(\.\./([^).][^)]*\.\w+)\)", rf"]({REPOSITORY}/blob/main/\1)", markdown)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """MkDocs: the old addresses of pages."""
    for page, place in MOVED.items():
        stub = Path(config.site_dir, page, "index.html")
        stub.parent.mkdir(parents=True, exist_ok=True)
        refresh = f'<meta http-equiv="refresh" content="0; url=../{place}">'
        stub.write_text(
            f'<!doctype html><meta charset="utf-8"><title>Moved</title>{refresh}<a href="../{place}">Moved</a>\n',
            encoding="utf-8",
        )


@functools.cache
def comments(file: Path) -> dict[int, str]:
    """The comments behind the code of a Python file, by line."""
    with tokenize.open(file) as source:
        tokens = [token for token in tokenize.generate_tokens(source.readline) if token.type == tokenize.COMMENT]
    return {token.start[0]: token.string.lstrip("# ") for token in tokens if token.line[: token.start[1]].strip()}


class Docstrings(griffe.Extension):
    """Describes fields by their comments, and writes roles as code and the colon alone."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Griffe: an object as it is read."""
        if obj.docstring is None and obj.is_attribute and isinstance(obj.filepath, Path):
            comment = comments(obj.filepath).get(obj.endlineno or 0, "")
            if comment and not comment.startswith(("type:", "pyright:", "noqa")):
                obj.docstring = griffe.Docstring(comment[:1].upper() + comment[1:], parent=obj)
        if obj.docstring is not None:
            first, gap, rest = obj.docstring.value.partition("\n\n")  # a list of classes shows one line of each
            text = _ANNOUNCED.sub(":", _ROLE.sub(r"`\1`", first.replace("\n", " ") + gap + rest))
            obj.docstring.value = _SETTINGS.sub(r"The other keyword arguments: \2\n\nArgs:\n\1", text)
