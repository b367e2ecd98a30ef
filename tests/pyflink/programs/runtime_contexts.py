"""What functions learn of where they run."""

from pyflink.common import Configuration, Types
from pyflink.datastream import MapFunction, ProcessFunction, StreamExecutionEnvironment


class Where(MapFunction):
    def open(self, runtime_context):
        self.context = runtime_context

    def map(self, value):
        context = self.context
        return (
            value,
            context.get_index_of_this_subtask(),
            context.get_number_of_parallel_subtasks(),
            context.get_attempt_number(),
            context.get_job_parameter("who", "nobody"),
            context.get_job_parameter("what", "nothing"),
        )


class Stamps(ProcessFunction):
    def process_element(self, value, ctx):
        yield (
            value,
            ctx.timestamp(),
            ctx.timer_service().current_watermark(),
            ctx.timer_service().current_processing_time() > 0,
        )


if __name__ == "__main__":
    settings = Configuration().set_string("pipeline.global-job-parameters", "who:me")
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(1)
    numbers = env.from_collection([1, 2], type_info=Types.INT())
    numbers.map(Where()).print("where")
    numbers.process(Stamps()).print("when")
    env.execute()
