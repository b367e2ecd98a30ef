"""Lines of a file that cannot be read do not stop the program: they leave it by a side output, with the reason.

    penstock run --local examples/side_outputs.py

Prints::

    total> (apples,3)
    total> (pears,1)
    total> (apples,5)
    refused> 'apples;two': invalid literal for int() with base 10: 'two'
    refused> 'plums': a line needs a name and a number
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.common import OutputTag, Types
from penstock.datastream import ProcessFunction, StreamExecutionEnvironment

LINES = ["apples;3", "apples;two", "pears;1", "plums", "apples;2"]
REFUSED = OutputTag("refused", Types.STRING())


class Parse(ProcessFunction[str, tuple[str, int]]):
    """(name, number) of each line; what cannot be parsed goes to REFUSED."""

    def process_element(
        self, value: str, ctx: ProcessFunction.Context
    ) -> Iterable[tuple[str, int] | tuple[OutputTag[str], str]]:
        try:
            yield parsed(value)
        except ValueError as error:
            yield REFUSED, f"{value!r}: {error}"  # a tag in front: the side output of that tag


def parsed(line: str) -> tuple[str, int]:
    """The two fields of a line."""
    name, separator, number = line.partition(";")
    if not separator:
        raise ValueError("a line needs a name and a number")
    return name, int(number)


def main() -> None:
    """Build the program and run it."""
    env = StreamExecutionEnvironment.get_execution_environment()
    sales = env.from_collection(LINES, type_info=Types.STRING()).process(
        Parse(), output_type=Types.TUPLE([Types.STRING(), Types.INT()])
    )
    sales.key_by(lambda sale: sale[0], key_type=Types.STRING()).sum(1).print("total")
    sales.get_side_output(REFUSED).print("refused")
    env.execute("parse")


if __name__ == "__main__":
    main()
