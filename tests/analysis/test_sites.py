"""Operators know where the program has made them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.cli.program import Planning
from tests.analysis.programs import planned

PROGRAM = """\
from penstock.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()


def doubled(stream):
    return stream.map(
        lambda value: 2 * value,
    )


stream = (
    env.from_collection([1])
    .map(str)
    .filter(bool).uid("ä-filter")
)
doubled(stream).print()
env.execute()
"""

SITES = {
    "from_collection": (13, 13, "    env.from_collection([1])"),
    "map": (14, 14, "    .map(str)"),
    "filter": (15, 15, "    .filter(bool)"),
    "print": (17, 17, "doubled(stream).print()"),
}


def test_a_site_is_the_call_and_where_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    pipeline = Planning().plan(str(file))
    sites = [pipeline.sites[node.id] for node in pipeline.stream_graph.nodes]
    assert [site.call for site in sites] == ["from_collection", "map", "filter", "map", "print"]
    assert {site.file for site in sites} == {str(file)}
    lines = PROGRAM.splitlines()
    by_call = {site.call: site for site in [*sites[:3], sites[4]]}
    for call, (line, end_line, text) in SITES.items():
        site = by_call[call]
        assert site.line == line
        if sys.version_info >= (3, 11):
            assert site.end_line == end_line
            assert lines[end_line - 1].encode()[: site.end_column].decode() == text
    assert sites[3].line == 7
    if sys.version_info >= (3, 11):
        assert (sites[3].end_line, sites[3].end_column) == (9, 5)


def test_calls_of_penstocks_own_are_not_the_programs() -> None:
    """What several calls of the package lie under is still one call of the program."""
    pipeline = planned(lambda env: env.from_collection([1]).key_by(lambda value: value).sum().print())
    assert {site.file for site in pipeline.sites.values()} == {__file__}
    assert [site.call for site in pipeline.sites.values()] == ["from_collection", "sum", "print"]


def test_an_operator_that_is_unknown_has_no_site() -> None:
    pipeline = planned(lambda env: env.from_collection([1]).print())
    assert len(pipeline.sites) == 2
    with pytest.raises(KeyError):
        pipeline.sites[99]
