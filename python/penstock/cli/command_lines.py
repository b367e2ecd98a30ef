"""Command lines for the program of the command that runs: for another process, and as advice that can be copied."""

from __future__ import annotations

import shlex
from typing import Any

import click

from penstock.cli.options import ALL_THE_PROGRAMS


def same_program(name: str, *options: str) -> str:
    """A command line for the program of the command that runs, as advice that can be copied: the command ``name`` with
    these options, and with what was given to this one, as far as the other command takes it."""
    ctx = click.get_current_context()
    group: Any = ctx.find_root().command
    words = [word for word in words_given(ctx, group.get_command(ctx, name)) if word not in options]
    return shlex.join(["penstock", name, *options, *words, *program_words(ctx)])


def program_words(ctx: click.Context) -> list[str]:
    """FILE and ARGS of the command that runs, as words of a command line for any command."""
    arguments: tuple[str, ...] = ctx.params["arguments"]
    return [ctx.params["file"], *([ALL_THE_PROGRAMS] if arguments else []), *arguments]


def words_given(ctx: click.Context, command: click.Command) -> list[str]:
    """The options that stand on the command line, as its words, as far as a command takes them."""
    words: list[str] = []
    theirs = {name for each in command.params for name in each.opts}
    for each in ctx.command.params:
        if not isinstance(each, click.Option) or not each.expose_value or each.name is None:
            continue
        name, value = each.opts[-1], ctx.params[each.name]
        if name not in theirs or ctx.get_parameter_source(each.name) is not click.core.ParameterSource.COMMANDLINE:
            continue
        if each.is_flag:
            words.append(name)
        else:
            words += [word for one in (value if each.multiple else [value]) for word in (name, str(one))]
    return words
