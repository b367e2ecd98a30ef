"""A program with what its environment knows of configurations: the objects by which PyFlink's users set it up."""
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from penstock.common import Configuration, checks
from penstock.common.execution_config import ExecutionConfig
from penstock.datastream.program.configuring import warn_of
from penstock.datastream.program.program import Program


class ConfiguredProgram(Program):
    """A :class:`Program` that can be set up by a configuration, and by the objects that stand for parts of it."""

    def configure(self, configuration: Configuration) -> None:
        """Take over settings; those that it does not name stay as they are. Operators that exist already keep their
        parallelism.

        Args:
            configuration: settings, of Flink, of Spark (``spark.*``) and our own. Those without effect are named in a
                warning.

        Raises:
            ConfigurationError: a setting is there under two names with two values.
        """
        if not isinstance(configuration, Configuration):
            checks.refuse(
                f"configure() was given {checks.shown(configuration)}, which is no Configuration. Make one: "
                "Configuration.from_dict({'parallelism.default': '2'})."
            )
        warn_of(configuration, stacklevel=3)
        self.settings = self.settings.updated(configuration.to_dict())

    def get_config(self) -> ExecutionConfig:
        """Settings of the program in one object; what is set there counts for the program."""
        return ExecutionConfig(self)
