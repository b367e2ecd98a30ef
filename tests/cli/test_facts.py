"""What the lock file knows of an operator beside its ID, its types and its state: shown when it changes."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """
from penstock.common import Types, WatermarkStrategy
from penstock.common.serialization import SimpleStringSchema
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.kafka import KafkaSource
env = StreamExecutionEnvironment.get_execution_environment()
builder = KafkaSource.builder().set_bootstrap_servers("localhost:9092").set_group_id("shop").set_topics({topic!r})
source = builder.set_value_only_deserializer(SimpleStringSchema()).build()
orders = env.from_source(source, WatermarkStrategy.no_watermarks(), "orders").uid("orders")
orders.map(lambda text: int(text), {type}).uid("numbers").print()
env.execute("shop")
"""


def test_another_topic_or_type_of_records_is_a_note(penstock, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = Path("job.py")
    job.write_text(PROGRAM.format(topic="orders", type="Types.INT()"))
    assert penstock("lock", "job.py").exit_code == 0
    job.write_text(PROGRAM.format(topic="sales", type="Types.LONG()"))
    checked = penstock("check", "job.py")
    assert checked.exit_code == 0, checked.output
    assert "place: <KafkaSource of 'orders'> -> <KafkaSource of 'sales'>" in checked.stdout
    assert "record: Types.INT() -> Types.LONG()" in checked.stdout
