"""PyFlink's connectors that cannot run here: Elasticsearch, Pulsar, Kinesis, Cassandra, RabbitMQ, clusters of
Kafka that change. Their classes and builders are there, take what PyFlink's take, and can be planned; ``execute``
refuses them before anything starts, and says what to use.

The tables follow PyFlink 2.3; :mod:`penstock.datastream.connectors.described` says how they are read.
"""

from __future__ import annotations

from typing import Any

from penstock.datastream.connectors.described import described

__all__ = [
    "CassandraCommitter",
    "CassandraFailureHandler",
    "CassandraWriter",
    "ClusterBuilder",
    "ConsistencyLevel",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "Elasticsearch6SinkBuilder",
    "Elasticsearch7SinkBuilder",
    "ElasticsearchEmitter",
    "ElasticsearchSink",
    "ElasticsearchSinkBuilderBase",
    "FlinkKinesisConsumer",
    "FlushBackoffType",
    "KafkaMetadataService",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "KinesisDeserializationSchema",
    "KinesisFirehoseSink",
    "KinesisFirehoseSinkBuilder",
    "KinesisShardAssigner",
    "KinesisStreamsSink",
    "KinesisStreamsSinkBuilder",
    "MapperOptions",
    "MessageDelayer",
    "PartitionKeyGenerator",
    "PulsarSink",
    "PulsarSinkBuilder",
    "PulsarSource",
    "PulsarSourceBuilder",
    "RMQConnectionConfig",
    "RMQSink",
    "RMQSource",
    "RangeGenerator",
    "SingleClusterTopicMetadataService",
    "StartCursor",
    "StopCursor",
    "StreamPatternSubscriber",
    "TopicRoutingMode",
    "WatermarkTracker",
]

_CLIENT = "with a client of your own"
_SOURCE = f"from_source() with a source of your own: splits() and read() {_CLIENT}"
_SINK = f"add_sink() with a function that writes {_CLIENT}"

_ELASTICSEARCH = described(
    """
    FlushBackoffType [enum] : CONSTANT EXPONENTIAL NONE
    ElasticsearchEmitter : @static_index(index,key_field=,doc_type=) @dynamic_index(index_field,key_field=,doc_type=)
    ElasticsearchSink [sink] :
    ElasticsearchSinkBuilderBase : +() set_emitter(emitter) set_hosts(hosts)
        set_delivery_guarantee(delivery_guarantee) set_bulk_flush_max_actions(num_max_actions)
        set_bulk_flush_max_size_mb(max_size_mb) set_bulk_flush_interval(interval_millis)
        set_bulk_flush_backoff_strategy(flush_backoff_type,max_retries,delay_millis)
        set_connection_username(username) set_connection_password(password) set_connection_path_prefix(prefix)
        set_connection_request_timeout(timeout) set_connection_timeout(timeout) set_socket_timeout(timeout)
        get_http_host_class() !build()->ElasticsearchSink needs set_hosts=hosts set_emitter=emitter
    Elasticsearch6SinkBuilder of ElasticsearchSinkBuilderBase : +() get_http_host_class()
    Elasticsearch7SinkBuilder of ElasticsearchSinkBuilderBase : +() get_http_host_class()
    """,
    writing=f"sink_to() with a SparkSink over Elasticsearch's writer for Spark, or {_SINK}",
)
_PULSAR = described(
    """
    TopicRoutingMode [enum] : ROUND_ROBIN MESSAGE_KEY_HASH CUSTOM
    StartCursor : +(_j_start_cursor) @default_start_cursor() @earliest() @latest()
        @from_message_id(message_id,inclusive=) @from_publish_time(timestamp)
    StopCursor : +(_j_stop_cursor) @default_stop_cursor() @never() @latest() @at_message_id(message_id)
        @after_message_id(message_id) @at_event_time(timestamp) @after_event_time(timestamp)
        @at_publish_time(timestamp) @after_publish_time(timestamp)
    RangeGenerator : @full() @fixed_key(support_null_key=,keys=,key_bytes=,ordering_key_bytes=)
    MessageDelayer : +(_j_message_delayer) @never() @fixed(duration)
    PulsarSource [source] : @builder()->PulsarSourceBuilder
    PulsarSourceBuilder : +() set_admin_url(admin_url) set_service_url(service_url)
        set_subscription_name(subscription_name) set_topics(topics) set_topic_pattern(topic_pattern)
        set_consumer_name(consumer_name) set_range_generator(range_generator) set_start_cursor(start_cursor)
        set_bounded_stop_cursor(stop_cursor) set_unbounded_stop_cursor(stop_cursor)
        set_deserialization_schema(deserialization_schema)
        set_authentication(auth_plugin_class_name,auth_params_string) set_config(key,value)
        set_config_with_dict(config) set_properties(config) !build()->PulsarSource needs
        set_service_url=service_url set_subscription_name=subscription_name
        set_deserialization_schema=deserialization_schema
    PulsarSink [sink] : @builder()->PulsarSinkBuilder
    PulsarSinkBuilder : +() set_admin_url(admin_url) set_service_url(service_url)
        set_producer_name(producer_name) set_topics(topics) set_delivery_guarantee(delivery_guarantee)
        set_topic_routing_mode(topic_routing_mode) set_topic_router(topic_router_class_name)
        set_serialization_schema(serialization_schema) delay_sending_message(message_delayer)
        set_authentication(auth_plugin_class_name,auth_params_string) set_config(key,value)
        set_properties(config) !build()->PulsarSink needs set_service_url=service_url
        set_serialization_schema=serialization_schema
    """,
    reading=f"KafkaSource over Pulsar's Kafka protocol, or {_SOURCE}",
    writing=f"KafkaSink over Pulsar's Kafka protocol, or {_SINK}",
)
_DYNAMIC_KAFKA = described(
    """
    KafkaMetadataService :
    SingleClusterTopicMetadataService of KafkaMetadataService : +(kafka_cluster_id,properties)
    KafkaStreamSubscriber :
    KafkaStreamSetSubscriber of KafkaStreamSubscriber : +(stream_ids)
    StreamPatternSubscriber of KafkaStreamSubscriber : +(stream_pattern)
    DynamicKafkaSource [source] : @builder()->DynamicKafkaSourceBuilder
    DynamicKafkaSourceBuilder : +() set_stream_ids(stream_ids) set_stream_pattern(stream_pattern)
        set_kafka_stream_subscriber(kafka_stream_subscriber) set_kafka_metadata_service(kafka_metadata_service)
        set_starting_offsets(starting_offsets_initializer) set_bounded(stopping_offsets_initializer)
        set_deserializer(deserializer) set_value_only_deserializer(deserialization_schema)
        set_group_id(group_id) set_client_id_prefix(prefix) set_property(key,value) set_properties(props)
        !build()->DynamicKafkaSource needs set_kafka_metadata_service=kafka_metadata_service
    """,
    reading="a KafkaSource for each cluster with set_bounded() of its builder, and union()",
)
_KINESIS = described(
    """
    KinesisDeserializationSchema :
    KinesisShardAssigner : @default_shard_assigner() @uniform_shard_assigner()
    WatermarkTracker : @job_manager_watermark_tracker(aggregate_name,log_accumulator_interval_millis=)
    PartitionKeyGenerator : @fixed() @random()
    FlinkKinesisConsumer [source function] : +(streams,deserializer,config_props)
        set_shard_assigner(shard_assigner) set_periodic_watermark_assigner(periodic_watermark_assigner)
        set_watermark_tracker(watermark_tracker)
    KinesisStreamsSink [sink] : @builder()->KinesisStreamsSinkBuilder
    KinesisStreamsSinkBuilder : +() set_stream_name(stream_name) set_serialization_schema(serialization_schema)
        set_partition_key_generator(partition_key_generator) set_fail_on_error(fail_on_error)
        set_kinesis_client_properties(kinesis_client_properties) set_max_batch_size(max_batch_size)
        set_max_in_flight_requests(max_in_flight_requests) set_max_buffered_requests(max_buffered_requests)
        set_max_batch_size_in_bytes(max_batch_size_in_bytes) set_max_time_in_buffer_ms(max_time_in_buffer_ms)
        set_max_record_size_in_bytes(max_record_size_in_bytes) !build()->KinesisStreamsSink needs
        set_stream_name=stream_name set_serialization_schema=serialization_schema
    KinesisFirehoseSink [sink] : @builder()->KinesisFirehoseSinkBuilder
    KinesisFirehoseSinkBuilder : +() set_delivery_stream_name(delivery_stream_name)
        set_serialization_schema(serialization_schema) set_fail_on_error(fail_on_error)
        set_firehose_client_properties(firehose_client_properties) set_max_batch_size(max_batch_size)
        set_max_in_flight_requests(max_in_flight_requests) set_max_buffered_requests(max_buffered_requests)
        set_max_batch_size_in_bytes(max_batch_size_in_bytes) set_max_time_in_buffer_ms(max_time_in_buffer_ms)
        set_max_record_size_in_bytes(max_record_size_in_bytes) !build()->KinesisFirehoseSink needs
        set_delivery_stream_name=delivery_stream_name set_serialization_schema=serialization_schema
    """,
    reading=f"{_SOURCE}, such as boto3",
    writing=f"{_SINK}, such as boto3",
)
_RABBITMQ = described(
    """
    RMQConnectionConfig : ?get_host=host ?get_port=port ?get_virtual_host=vhost ?get_user_name=user_name
        ?get_password=password ?get_uri=uri ?get_network_recovery_interval=network_recovery_interval
        ?is_automatic_recovery=automatic_recovery ?is_topology_recovery=topology_recovery_enabled
        ?get_connection_timeout=connection_timeout ?get_requested_channel_max=requested_channel_max
        ?get_requested_frame_max=requested_frame_max ?get_requested_heartbeat=requested_heartbeat
    RMQConnectionConfig.Builder : +() set_port(port) set_host(host) set_virtual_host(vhost)
        set_user_name(user_name) set_password(password) set_uri(uri)
        set_topology_recovery_enabled(topology_recovery_enabled) set_requested_heartbeat(requested_heartbeat)
        set_requested_frame_max(requested_frame_max) set_requested_channel_max(requested_channel_max)
        set_network_recovery_interval(network_recovery_interval) set_connection_timeout(connection_timeout)
        set_automatic_recovery(automatic_recovery) set_prefetch_count(prefetch_count)
        build()->RMQConnectionConfig
    RMQSource [source function] : +(connection_config,queue_name,use_correlation_id,deserialization_schema)
    RMQSink [sink function] : +(connection_config,queue_name,serialization_schema)
    """,
    reading=f"{_SOURCE}, such as pika",
    writing=f"{_SINK}, such as pika",
)
_CASSANDRA = described(
    """
    ConsistencyLevel [enum] : ANY ONE TWO THREE QUORUM ALL LOCAL_QUORUM EACH_QUORUM SERIAL LOCAL_SERIAL LOCAL_ONE
    ClusterBuilder :
    MapperOptions : +() ttl(ttl) timestamp(timestamp) consistency_level(cl) tracing(enabled)
        save_null_fields(enabled) if_not_exists(enabled)
    CassandraCommitter : @default_checkpoint_committer(builder,key_space=)
    CassandraFailureHandler : @no_op()
    CassandraWriter [sink function] :
    """,
    writing=f"sink_to() with a SparkSink over Cassandra's connector for Spark, or {_SINK}",
)

FlushBackoffType: type[Any] = _ELASTICSEARCH["FlushBackoffType"]
ElasticsearchEmitter: type[Any] = _ELASTICSEARCH["ElasticsearchEmitter"]
ElasticsearchSink: type[Any] = _ELASTICSEARCH["ElasticsearchSink"]
ElasticsearchSinkBuilderBase: type[Any] = _ELASTICSEARCH["ElasticsearchSinkBuilderBase"]
Elasticsearch6SinkBuilder: type[Any] = _ELASTICSEARCH["Elasticsearch6SinkBuilder"]
Elasticsearch7SinkBuilder: type[Any] = _ELASTICSEARCH["Elasticsearch7SinkBuilder"]
TopicRoutingMode: type[Any] = _PULSAR["TopicRoutingMode"]
StartCursor: type[Any] = _PULSAR["StartCursor"]
StopCursor: type[Any] = _PULSAR["StopCursor"]
RangeGenerator: type[Any] = _PULSAR["RangeGenerator"]
MessageDelayer: type[Any] = _PULSAR["MessageDelayer"]
KafkaMetadataService: type[Any] = _DYNAMIC_KAFKA["KafkaMetadataService"]
SingleClusterTopicMetadataService: type[Any] = _DYNAMIC_KAFKA["SingleClusterTopicMetadataService"]
KafkaStreamSubscriber: type[Any] = _DYNAMIC_KAFKA["KafkaStreamSubscriber"]
KafkaStreamSetSubscriber: type[Any] = _DYNAMIC_KAFKA["KafkaStreamSetSubscriber"]
StreamPatternSubscriber: type[Any] = _DYNAMIC_KAFKA["StreamPatternSubscriber"]
DynamicKafkaSource: type[Any] = _DYNAMIC_KAFKA["DynamicKafkaSource"]
DynamicKafkaSourceBuilder: type[Any] = _DYNAMIC_KAFKA["DynamicKafkaSourceBuilder"]
PulsarSource: type[Any] = _PULSAR["PulsarSource"]
PulsarSourceBuilder: type[Any] = _PULSAR["PulsarSourceBuilder"]
PulsarSink: type[Any] = _PULSAR["PulsarSink"]
PulsarSinkBuilder: type[Any] = _PULSAR["PulsarSinkBuilder"]
KinesisDeserializationSchema: type[Any] = _KINESIS["KinesisDeserializationSchema"]
KinesisShardAssigner: type[Any] = _KINESIS["KinesisShardAssigner"]
WatermarkTracker: type[Any] = _KINESIS["WatermarkTracker"]
PartitionKeyGenerator: type[Any] = _KINESIS["PartitionKeyGenerator"]
FlinkKinesisConsumer: type[Any] = _KINESIS["FlinkKinesisConsumer"]
KinesisStreamsSink: type[Any] = _KINESIS["KinesisStreamsSink"]
KinesisStreamsSinkBuilder: type[Any] = _KINESIS["KinesisStreamsSinkBuilder"]
KinesisFirehoseSink: type[Any] = _KINESIS["KinesisFirehoseSink"]
KinesisFirehoseSinkBuilder: type[Any] = _KINESIS["KinesisFirehoseSinkBuilder"]
RMQConnectionConfig: type[Any] = _RABBITMQ["RMQConnectionConfig"]
RMQSource: type[Any] = _RABBITMQ["RMQSource"]
RMQSink: type[Any] = _RABBITMQ["RMQSink"]
ConsistencyLevel: type[Any] = _CASSANDRA["ConsistencyLevel"]
ClusterBuilder: type[Any] = _CASSANDRA["ClusterBuilder"]
MapperOptions: type[Any] = _CASSANDRA["MapperOptions"]
CassandraCommitter: type[Any] = _CASSANDRA["CassandraCommitter"]
CassandraFailureHandler: type[Any] = _CASSANDRA["CassandraFailureHandler"]
CassandraWriter: type[Any] = _CASSANDRA["CassandraWriter"]
"""What a CassandraSink adds to a stream; not PyFlink's name."""
