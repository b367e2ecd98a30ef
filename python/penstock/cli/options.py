"""Options and arguments that several commands have: the program, and how it is planned; and the one rule for what is a
command's own option and what is the program's."""

from __future__ import annotations

import functools
import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from penstock.cli.program import ALL, Planning
from penstock.plan import PROFILES

ALL_THE_PROGRAMS = "--"  # behind FILE: all that follows goes to the program, whatever it looks like
_FILES = f"{__name__}.files"
_WHICH = "Which job of the program: its name or number"
program_path = click.Path(exists=True, dir_okay=False, readable=True)


def _one(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value == ALL:
        raise click.BadParameter(f"{context.info_name} looks at one job: give its name, or its number from 1.")
    return value


def _flag(name: str, help: str) -> Callable[..., Any]:
    return click.option(name, is_flag=True, help=help)


as_flink = click.option(
    "--flink", type=click.Choice(PROFILES), help="Plan as this Flink.  [default: as the program says, or 1.11]"
)
means_pyflink = _flag("--pyflink", "Let the program's `import pyflink` mean penstock.pyflink.")
of_job = click.option("--job", metavar="NAME|N", callback=_one, help=f"{_WHICH}.  [default: the first]")
of_jobs = click.option("--job", metavar="NAME|N|all", help=f"{_WHICH}, or all.  [default: the first]")
may_lose_state = _flag("--allow-non-restored-state", "State may be left behind.")
prints_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
opens_browser = click.option("--open", "show", is_flag=True, help="Open the page in the browser.")
lock_file = click.option(
    "--lock", "path", type=click.Path(dir_okay=False), help="The file.  [default: penstock.lock beside FILE]"
)
program_arguments = click.argument("arguments", metavar="[ARGS]...", nargs=-1, type=click.UNPROCESSED)


def written_as(formats: Sequence[str], help: str) -> Callable[..., Any]:
    """The option --format; the first one is the default."""
    kinds = click.Choice(formats)
    return click.option("--format", "form", type=kinds, default=formats[0], show_default=True, help=help)


def waits(whose: str) -> Callable[..., Any]:
    """The option --timeout."""
    return click.option("--timeout", default=300.0, show_default=True, help=f"Seconds to wait for {whose}.")


def refers(help: str) -> Callable[..., Any]:
    """The options --reference and --no-reference."""
    return click.option("--reference/--no-reference", default=None, help=help)


def full_traceback(when: str) -> Callable[..., Any]:
    """The option --traceback."""
    shown = f"Show Python's whole traceback {when}."
    return click.option("--traceback", "full_traceback", is_flag=True, help=shown)


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    """The arguments FILE and ARGS."""
    return click.argument("file", type=program_path)(program_arguments(function))


def planned(*options: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a program is planned, by default one of its jobs. The command gets them, with the
    arguments of the program, as a :class:`~penstock.cli.program.Planning` with the name ``planning``."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def command(
            flink: str | None, pyflink: bool, job: str | None, arguments: tuple[str, ...] = (), **others: Any
        ) -> Any:
            return function(planning=Planning(flink, pyflink, arguments, job), **others)

        for option in reversed(options or (of_job, as_flink, means_pyflink)):
            command = option(command)
        return command

    return decorate


class Command(click.Command):
    """A command whose docstring ends with examples, which its help shows below the options."""

    def __init__(self, *args: Any, help: str | None = None, **named: Any) -> None:
        text, _, examples = inspect.cleandoc(help or "").partition("\n\nExamples:\n")
        super().__init__(*args, help=text, epilog=examples and f"\b\nExamples:\n{examples}", **named)


class Group(Command, click.Group):
    """A group of such commands."""

    command_class = Command


class ProgramCommand(Command):
    """A command with an argument FILE, a program, and ARGS behind it, which are the program's own.

    The command's options stand before FILE. One of them behind it is an error that shows the right order, as it would
    otherwise go to the program, which may ignore it. Behind ``--`` everything is the program's.
    """

    rule = (
        "Options stand before FILE, and ARGS are the program's. To give the program an option that has the name of "
        "one of these, write -- behind FILE: all that follows is the program's then."
    )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The rule, then the examples."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(self.rule)
        super().format_epilog(ctx, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; a UsageError if an option of the command stands behind FILE."""
        at = self._place_of_file(ctx, args)
        if at is None:
            return super().parse_args(ctx, args)
        before, (file, *behind) = args[:at], args[at:]
        end = behind.index(ALL_THE_PROGRAMS) if ALL_THE_PROGRAMS in behind else len(behind)
        files, rest = self._further_files(behind[:end])
        ctx.meta[_FILES] = (file, *files)
        separator = [] if ALL_THE_PROGRAMS in before else [ALL_THE_PROGRAMS]
        left = super().parse_args(ctx, [*before, *separator, file, *rest, *behind[end + 1 :]])
        if not ctx.resilient_parsing:
            self._refuse_options(ctx, before, (file, *files), rest, behind[end + 1 :])
        return left

    def _further_files(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The files that follow the first one, and what is left of the words."""
        return [], words

    def _place_of_file(self, ctx: click.Context, args: Sequence[str]) -> int | None:
        """Where FILE is on the command line; None if it is not there. Options are read up to it only."""
        arguments = [parameter.name for parameter in self.get_params(ctx) if isinstance(parameter, click.Argument)]
        to_come, position, only_arguments = arguments.index("file"), 0, False
        while position < len(args):
            word = args[position]
            if not only_arguments and word == "--":
                only_arguments = True
            elif not only_arguments and len(word) > 1 and word.startswith("-"):
                position += self._takes_next(ctx, word)
            elif to_come == 0:
                return position
            else:
                to_come -= 1
            position += 1
        return None

    def _takes_next(self, ctx: click.Context, word: str) -> bool:
        """Whether the value of an option is the next word of the command line."""
        if word.startswith("--"):
            option = self._option(ctx, word)
            return option is not None and not option.is_flag and "=" not in word
        for position, letter in enumerate(word[1:], 2):  # such as -n, -p4 or -np4
            option = self._option(ctx, f"-{letter}")
            if option is not None and not option.is_flag:
                return position == len(word)
        return False

    def _option(self, ctx: click.Context, word: str) -> click.Option | None:
        """The option of this command that a word is; with one dash, a word of several letters is not ours."""
        name = word.partition("=")[0]
        if not name.startswith("--") and not word[2:3].isalpha():
            name = word[:2]
        options = (option for option in self.get_params(ctx) if isinstance(option, click.Option))
        return next((option for option in options if name in (*option.opts, *option.secondary_opts)), None)

    def _refuse_options(
        self, ctx: click.Context, before: list[str], files: Sequence[str], rest: list[str], behind: list[str]
    ) -> None:
        for position, word in enumerate(rest):
            if not word.startswith("-") or self._option(ctx, word) is None:
                continue
            end = position + 1 + self._takes_next(ctx, word)
            right = [*before, *rest[position:end], *files, *rest[:position], *rest[end:]]
            if behind:
                right += [ALL_THE_PROGRAMS, *behind]
            programs = [*before, *files, ALL_THE_PROGRAMS, *rest, *behind]
            raise click.UsageError(
                f"{word} is an option of {ctx.command_path!r}, and behind {files[-1]} options are the program's.\n"
                f"Give it before the file:\n\n  {ctx.command_path} {shlex.join(right)}\n\n"
                f"If it is the program's own:\n\n  {ctx.command_path} {shlex.join(programs)}"
            )


class FilesCommand(ProgramCommand):
    """A command that takes one program or several: the words behind the first FILE that end in ``.py`` are files too.
    Several are run one after the other, each in a process of its own, with the same options and ARGS."""

    rule = (
        f"{ProgramCommand.rule} Words behind FILE that end in .py are further files; all get the same ARGS. The exit "
        "status is the worst."
    )

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Such as ``[OPTIONS] FILE... [ARGS]...``."""
        return ["FILE..." if piece == "FILE" else piece for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; all files have to be there before the first one is looked at."""
        rest = super().parse_args(ctx, args)
        (file,) = (parameter for parameter in self.params if parameter.name == "file")
        for further in ctx.meta.get(_FILES, ())[1:]:
            file.type_cast_value(ctx, further)
        return rest

    def _further_files(self, words: list[str]) -> tuple[list[str], list[str]]:
        others = (at for at, word in enumerate(words) if word.startswith("-") or not word.endswith(".py"))
        number = next(others, len(words))
        return words[:number], words[number:]

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command for the file, or for all of them."""
        files: tuple[str, ...] = ctx.meta.get(_FILES, ())
        if len(files) < 2:
            return super().invoke(ctx)
        from penstock.cli.program_processes import run_each

        sys.exit(run_each(self, ctx, files))
