"""Settings of PyFlink's own, of bundles and threads: results stay, and they are given back."""

from pyflink.common import Configuration, Types
from pyflink.datastream import StreamExecutionEnvironment

SETTINGS = {
    "python.execution-mode": "thread",
    "python.fn-execution.bundle.size": "2",
    "python.fn-execution.bundle.time": "10",
    "python.metric.enabled": "false",
    "python.operator-chaining.enabled": "false",
    "python.state.cache-size": "3",
    "python.profile.enabled": "false",
}

if __name__ == "__main__":
    configuration = Configuration()
    for name, value in SETTINGS.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    print(configuration.get_integer("python.fn-execution.bundle.size", 0), configuration.contains_key("python.no"))
    print(configuration.get_boolean("python.metric.enabled", True), configuration.get_string("python.no", "nothing"))
    print(sorted(configuration.to_dict()) == sorted(SETTINGS))
    words = env.from_collection(["b", "a", "b", "c", "b"], type_info=Types.STRING())
    counted = words.map(lambda word: (word, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
    counted.filter(lambda pair: pair[0] != "c").key_by(lambda pair: pair[0]).sum(1).print()
    env.execute()
