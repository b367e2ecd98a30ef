"""``penstock uid``: the OperatorID that a uid stands for."""

from __future__ import annotations

import click

from penstock.cli.report import guard
from penstock.plan import operator_id


def _decoded(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    """The argument, if the shell's bytes were text: Python keeps the others as surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("the bytes are not text in this locale's encoding") from None
    return text


@click.command(
    name="uid",
    epilog="""\b
Examples:
  penstock uid word-counter
  penstock uid "source of orders"
""",
)
@click.argument("text", callback=_decoded)
def command(text: str) -> None:
    """Print the OperatorID of an operator whose uid is TEXT.

    It is what `.uid(TEXT)` gives an operator in Flink and in Penstock, as 32 hex digits: murmur3_128 with seed 0 over
    the UTF-8 bytes of TEXT. State, metrics and errors are addressed by it.
    """
    with guard():
        click.echo(operator_id(text))
