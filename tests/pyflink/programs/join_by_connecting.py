"""An inner join of two keyed streams by a process function that keeps both sides until their time has passed."""

from pyflink.common import Row, Types, WatermarkStrategy
from pyflink.common.watermark_strategy import TimestampAssigner
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Times(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value["at"]


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.orders = runtime_context.get_list_state(ListStateDescriptor("orders", Types.STRING()))
        self.bills = runtime_context.get_list_state(ListStateDescriptor("bills", Types.DOUBLE()))

    def process_element1(self, value, ctx):
        self.orders.add(value["what"])
        ctx.timer_service().register_event_time_timer(value["at"] + 100)

    def process_element2(self, value, ctx):
        self.bills.add(value["price"])
        ctx.timer_service().register_event_time_timer(value["at"] + 100)

    def on_timer(self, timestamp, ctx):
        for order in sorted(self.orders):
            for bill in sorted(self.bills):
                yield Row(who=ctx.get_current_key(), what=order, price=bill)
        self.orders.clear()
        self.bills.clear()


if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    order = Types.ROW_NAMED(["who", "at", "what"], [Types.STRING(), Types.LONG(), Types.STRING()])
    bill = Types.ROW_NAMED(["who", "at", "price"], [Types.STRING(), Types.LONG(), Types.DOUBLE()])
    orders = env.from_collection([Row("ann", 1, "tea"), Row("bob", 2, "rice"), Row("ann", 5, "milk")], type_info=order)
    bills = env.from_collection([Row("ann", 3, 1.5), Row("cleo", 4, 2.5), Row("ann", 7, 0.25)], type_info=bill)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Times())
    left = orders.assign_timestamps_and_watermarks(strategy).key_by(lambda row: row["who"], Types.STRING())
    right = bills.assign_timestamps_and_watermarks(strategy).key_by(lambda row: row["who"], Types.STRING())
    joined = Types.ROW_NAMED(["who", "what", "price"], [Types.STRING(), Types.STRING(), Types.DOUBLE()])
    left.connect(right).process(Join(), joined).map(lambda row: f"{row['who']}: {row.what} {row['price']}").print()
    env.execute()
