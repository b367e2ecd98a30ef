"""What programs ask of Java most: the settings of an environment, its graph, lists."""

from pyflink.common import Configuration, Types
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.java_gateway import get_gateway
from pyflink.util.java_utils import get_j_env_configuration, to_jarray

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    jvm = get_gateway().jvm
    settings = get_j_env_configuration(env._j_stream_execution_environment)
    settings.setString("python.fn-execution.bundle.size", "1")
    print(settings.getString("python.fn-execution.bundle.size", ""), settings.containsKey("no.such"))
    env.set_runtime_mode(RuntimeExecutionMode.BATCH)
    print(settings.getValue(jvm.org.apache.flink.configuration.ExecutionOptions.RUNTIME_MODE))
    print(jvm.org.apache.flink.configuration.PipelineOptions.JARS.key())
    Configuration(j_configuration=settings).set_string("pipeline.name", "mine")
    print(settings.getString("pipeline.name", None))
    env.from_collection([1], type_info=Types.INT()).name("one").map(lambda x: x).name("same").uid("u").print().name(
        "out"
    )
    graph = env._j_stream_execution_environment.getStreamGraph(True)
    nodes = {node.getOperatorName(): node for node in graph.getStreamNodes().toArray()}
    print(nodes["same"].getParallelism(), nodes["same"].getTransformationUID(), nodes["same"].getSlotSharingGroup())
    words = jvm.java.util.ArrayList()
    words.add("a")
    words.add("b")
    print(words.size(), words.get(1), list(words), list(to_jarray(jvm.java.lang.String, ["x", "y"])))
