"""Configurations: from a dict, typed getters, and an environment that is told what was set."""

from pyflink.common import Configuration, ExecutionConfig
from pyflink.datastream import CheckpointingMode, RuntimeExecutionMode, StreamExecutionEnvironment

if __name__ == "__main__":
    settings = Configuration()
    settings.set_string("pipeline.name", "mine").set_integer("parallelism.default", 3)
    settings.set_boolean("pipeline.object-reuse", True).set_float("a.float", 1.5)
    print(settings.get_string("pipeline.name", ""), settings.get_integer("parallelism.default", 1))
    print(settings.get_boolean("pipeline.object-reuse", False), settings.get_float("a.float", 0.0))
    print(settings.get_string("no.such", "default"), settings.contains_key("no.such"))
    print(sorted(settings.key_set()), settings.remove_config("a.float"), settings.contains_key("a.float"))
    other = Configuration()
    other.add_all(settings)
    print(other == settings)
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    print(env.get_parallelism(), env.get_config().is_object_reuse_enabled())
    env.configure(Configuration().set_string("pipeline.max-parallelism", "64"))
    print(env.get_max_parallelism(), isinstance(env.get_config(), ExecutionConfig))
    env.enable_checkpointing(30000, CheckpointingMode.AT_LEAST_ONCE)
    print(env.get_checkpoint_interval(), env.get_checkpoint_config().get_checkpointing_mode().name)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    env.set_parallelism(1)
    env.from_collection([1, 2]).map(lambda x: x + 1).print()
    env.execute()
