"""The table of docs/clusters.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.sparks.environments import ROOT

OK = "equal"
PAGE = ROOT / "docs" / "clusters.md"
BEGIN, END = "<!-- sparks: written by make check-sparks -->", "<!-- /sparks -->"


def write(results: Mapping[str, Mapping[str, str]], parts: Sequence[str]) -> None:
    """Exchange what stands between the markers for the results, by version and part."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table(results, parts)}\n{END}{after}", encoding="utf-8")


def table(results: Mapping[str, Mapping[str, str]], parts: Sequence[str]) -> str:
    """The results as a table of Markdown."""
    lines = [["Spark", *parts], ["---"] * (len(parts) + 1)]
    lines += [[version, *(result[part] for part in parts)] for version, result in results.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
