"""Maps to Elasticsearch 6 and 7: to one index, and to the index that a field names."""

import sys

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors import DeliveryGuarantee
from pyflink.datastream.connectors.elasticsearch import (
    Elasticsearch6SinkBuilder,
    Elasticsearch7SinkBuilder,
    ElasticsearchEmitter,
    FlushBackoffType,
)


def tuned(builder):
    return (
        builder.set_delivery_guarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .set_bulk_flush_max_actions(10)
        .set_bulk_flush_max_size_mb(5)
        .set_bulk_flush_interval(500)
        .set_bulk_flush_backoff_strategy(FlushBackoffType.CONSTANT, 2, 100)
        .set_connection_username("me")
        .set_connection_password("secret")
        .set_connection_path_prefix("search")
        .set_connection_request_timeout(1000)
        .set_connection_timeout(2000)
        .set_socket_timeout(3000)
    )


SINKS = {
    "six": lambda: tuned(Elasticsearch6SinkBuilder().set_emitter(ElasticsearchEmitter.static_index("a", "id", "doc"))),
    "six_by_name": lambda: Elasticsearch6SinkBuilder().set_emitter(
        ElasticsearchEmitter.dynamic_index("name", "id", "doc")
    ),
    "seven": lambda: tuned(Elasticsearch7SinkBuilder().set_emitter(ElasticsearchEmitter.static_index("a", "id"))),
    "seven_by_name": lambda: Elasticsearch7SinkBuilder().set_emitter(ElasticsearchEmitter.dynamic_index("name", "id")),
}

if __name__ == "__main__":
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_jars("file:///opt/flink/flink-sql-connector-elasticsearch7.jar")
    texts = Types.MAP(Types.STRING(), Types.STRING())
    stations = env.from_collection([{"id": "7", "name": "quay"}, {"id": "9", "name": "mill"}], type_info=texts)
    stations.sink_to(SINKS[sys.argv[1]]().set_hosts(["search:9200"]).build()).name("Index")
    env.execute("index")
