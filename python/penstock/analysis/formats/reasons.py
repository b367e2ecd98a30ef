"""Why an operator has its ID, as plain text and as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.analysis.formats.names import LONGEST, in_markdown
from penstock.analysis.why import Why
from penstock.display.visible import visible


def reasons(found: Why, *, as_markdown: bool = False) -> str:
    """The answer of :func:`penstock.analysis.why.why` as a text.

    Args:
        found: the answer.
        as_markdown: with names as code.
    """
    name = in_markdown if as_markdown else _quoted
    return "\n".join([*_made_of(found, name), *_edits(found), *_advice(found)]) + "\n"


def _quoted(text: str) -> str:
    return f'"{visible(text, LONGEST)}"'


def _made_of(found: Why, name: Callable[[str], str]) -> Iterator[str]:
    made, operator = found.made_of, found.operator
    yield f"Operator {operator.node} {name(operator.name)} has the ID {made.operator_id}."
    if operator.pinned:
        yield f"Its state is addressed by the uid hash {operator.pinned} instead."
    yield ""
    if made.uid is not None:
        yield f"The ID is made of its uid {name(made.uid)} and of nothing else: murmur3_128 of the text."
        return
    yield "The ID is made of its position, as it has no uid. What is hashed:"
    yield ""
    chained = len(made.chained_outputs)
    outputs = (
        "no output is chained" if not chained else f"{chained} of its outputs {'is' if chained == 1 else 'are'} chained"
    )
    yield f"- its place: {made.place} operators get their ID before it, going breadth-first from the sources;"
    yield f"- how many times that is put in: {1 + chained}, once for itself, as {outputs};"
    if not made.inputs:
        yield "- the IDs of its inputs: none, it is a source."
    for each in made.inputs:
        yield f"- the ID of its input {each.source} {name(found.names[each.source])}: {each.operator_id}"


def _edits(found: Why) -> Iterator[str]:
    for title, moved in (("Edits that move it", True), ("Edits that leave it", False)):
        edits = [each for each in found.edits if each.moved == moved]
        if edits:
            yield ""
            yield f"{title}; each was made, and planned:"
            yield ""
            for each in edits:
                yield f"- {each.what}" + (f" → {each.operator_id}" if moved else "")


def _advice(found: Why) -> Iterator[str]:
    if found.made_of.uid is None and not found.operator.pinned:
        yield ""
        yield (
            "A uid makes it independent of its position, and moves it once. To keep the state that is there, pin "
            f'today\'s ID beside it: .set_uid_hash("{found.made_of.operator_id}")'
        )
        if found.flink == "1.11":
            yield (
                "Flink 1.11 reads state by a uid hash and writes it under the generated ID: there, take the uid hash "
                "out again once a savepoint has been taken."
            )
