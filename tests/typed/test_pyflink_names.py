"""PyFlink's public names are where PyFlink has them, as far as there is such a thing here."""

from __future__ import annotations

import importlib
from operator import attrgetter

import pytest

from penstock.common import OutputTag, Types, WatermarkStrategy
from penstock.common.typeinfo import ListTypeInfo
from penstock.datastream import ValueStateDescriptor, functions, state

NAMES = {
    "common": "CompletableFuture Configuration Duration ExecutionConfig JobClient JobExecutionResult JobID JobStatus "
    "RestartStrategies RestartStrategyConfiguration Row RowKind Time TypeInformation Types WatermarkStrategy",
    "common.completable_future": "CompletableFuture",
    "common.configuration": "Configuration",
    "common.execution_config": "ExecutionConfig",
    "common.job_client": "JobClient",
    "common.job_execution_result": "JobExecutionResult",
    "common.job_id": "JobID",
    "common.job_status": "JobStatus",
    "common.restart_strategy": "RestartStrategies RestartStrategyConfiguration",
    "common.serialization": "DeserializationSchema Encoder SerializationSchema SimpleStringEncoder SimpleStringSchema",
    "common.time": "Duration Time",
    "common.typeinfo": "BasicType BasicTypeInfo ListTypeInfo MapTypeInfo PickledBytesTypeInfo RowTypeInfo "
    "SqlTimeTypeInfo TupleTypeInfo TypeInformation Types",
    "common.types": "Row RowKind",
    "common.watermark_strategy": "TimestampAssigner WatermarkStrategy",
    "datastream": "AggregateFunction AggregatingState AsyncDataStream AsyncFunction AsyncRetryPredicate "
    "AsyncRetryStrategy BroadcastProcessFunction "
    "BroadcastState CheckpointConfig CheckpointStorage "
    "CheckpointingMode CoFlatMapFunction CoMapFunction CoProcessFunction ConnectedStreams DataStream "
    "DataStreamSink FilterFunction FlatMapFunction Function KeyedBroadcastProcessFunction KeyedCoProcessFunction "
    "KeyedProcessFunction KeyedStream ListState MapFunction MapState OutputTag Partitioner ProcessAllWindowFunction "
    "ProcessFunction ProcessWindowFunction ReducingState ReduceFunction RuntimeContext RuntimeExecutionMode "
    "SinkFunction SourceFunction StreamExecutionEnvironment TimeCharacteristic TimeDomain TimerService ValueState "
    "WindowFunction WindowedStream CustomCheckpointStorage CustomStateBackend EmbeddedRocksDBStateBackend "
    "ExternalizedCheckpointCleanup ExternalizedCheckpointRetention FileSystemCheckpointStorage FsStateBackend "
    "HashMapStateBackend JobManagerCheckpointStorage MemoryStateBackend PredefinedOptions RocksDBStateBackend "
    "SlotSharingGroup StateBackend",
    "datastream.async_data_stream": "AsyncDataStream",
    "datastream.async_retry_strategies": "ExponentialBackoffDelayRetryStrategy FixedDelayRetryStrategy NoRetryStrategy "
    "RetryPredicate",
    "datastream.checkpoint_config": "CheckpointConfig ExternalizedCheckpointCleanup",
    "datastream.checkpoint_storage": "CheckpointStorage CustomCheckpointStorage FileSystemCheckpointStorage "
    "JobManagerCheckpointStorage",
    "datastream.checkpointing_mode": "CheckpointingMode",
    "datastream.connectors": "BucketAssigner BulkFormat DefaultRollingPolicy FileEnumeratorProvider FileSink "
    "FileSource FileSourceBuilder FileSplitAssignerProvider NumberSequenceSource OnCheckpointRollingPolicy "
    "OutputFileConfig RollingPolicy Sink Source StreamFormat StreamingFileSink",
    "datastream.connectors.base": "Sink Source",
    "datastream.connectors.file_system": "BucketAssigner BulkFormat DefaultRollingPolicy FileEnumeratorProvider "
    "FileSink FileSource FileSourceBuilder FileSplitAssignerProvider OnCheckpointRollingPolicy OutputFileConfig "
    "RollingPolicy StreamFormat StreamingFileSink",
    "datastream.connectors.number_seq": "NumberSequenceSource",
    "datastream.data_stream": "AllWindowedStream BroadcastConnectedStream BroadcastStream CachedDataStream "
    "CloseableIterator ConnectedStreams DataStream DataStreamSink KeyedStream WindowedStream",
    "datastream.execution_mode": "RuntimeExecutionMode",
    "datastream.externalized_checkpoint_retention": "ExternalizedCheckpointRetention",
    "datastream.formats.avro": "AvroBulkWriters AvroInputFormat AvroSchema GenericRecordAvroTypeInfo",
    "datastream.formats.csv": "CsvBulkWriters CsvReaderFormat CsvSchema CsvSchemaBuilder",
    "datastream.formats.orc": "OrcBulkWriters",
    "datastream.formats.parquet": "AvroParquetReaders AvroParquetWriters ParquetBulkWriters "
    "ParquetColumnarRowInputFormat",
    "datastream.functions": "AggregateFunction AllWindowFunction AsyncFunction AsyncRetryPredicate "
    "AsyncRetryStrategy BaseBroadcastProcessFunction "
    "BroadcastProcessFunction CoFlatMapFunction CoMapFunction CoProcessFunction FilterFunction FlatMapFunction "
    "Function KeySelector KeyedBroadcastProcessFunction KeyedCoProcessFunction KeyedProcessFunction KeyedStateStore "
    "MapFunction Partitioner ProcessAllWindowFunction ProcessFunction ProcessWindowFunction ReduceFunction "
    "RuntimeContext SinkFunction SourceFunction WindowFunction",
    "datastream.output_tag": "OutputTag",
    "datastream.state": "AggregatingState AggregatingStateDescriptor AppendingState BroadcastState ListState "
    "ListStateDescriptor MapState MapStateDescriptor MergingState ReadOnlyBroadcastState ReducingState "
    "ReducingStateDescriptor State StateDescriptor StateTtlConfig ValueState ValueStateDescriptor",
    "datastream.slot_sharing_group": "MemorySize SlotSharingGroup",
    "datastream.state_backend": "CustomStateBackend EmbeddedRocksDBStateBackend FsStateBackend HashMapStateBackend "
    "MemoryStateBackend PredefinedOptions RocksDBStateBackend StateBackend",
    "datastream.stream_execution_environment": "StreamExecutionEnvironment",
    "datastream.time_characteristic": "TimeCharacteristic",
    "datastream.time_domain": "TimeDomain",
    "datastream.timerservice": "TimerService",
    "common.serializer": "TypeSerializer",
    "datastream.window": "ContinuousEventTimeTrigger ContinuousProcessingTimeTrigger CountSlidingWindowAssigner "
    "CountTrigger CountTumblingWindowAssigner CountWindow CountWindowSerializer DynamicEventTimeSessionWindows "
    "DynamicProcessingTimeSessionWindows EventTimeSessionWindows EventTimeTrigger GlobalWindow GlobalWindowSerializer "
    "GlobalWindows MergingWindowAssigner NeverTrigger ProcessingTimeSessionWindows ProcessingTimeTrigger "
    "PurgingTrigger SessionWindowTimeGapExtractor SlidingEventTimeWindows SlidingProcessingTimeWindows Time TimeWindow "
    "TimeWindowSerializer Trigger TriggerResult TumblingEventTimeWindows TumblingProcessingTimeWindows Window "
    "WindowAssigner",
    "metrics": "Counter Distribution Meter Metric MetricGroup",
    "metrics.metricbase": "Counter Distribution Meter Metric MetricGroup",
}
"""By module, relative to ``pyflink`` there and ``penstock`` here."""

CONTEXTS = {
    "ProcessFunction.Context": "timer_service timestamp",
    "KeyedProcessFunction.Context": "get_current_key timer_service timestamp",
    "KeyedProcessFunction.OnTimerContext": "get_current_key time_domain timer_service timestamp",
    "CoProcessFunction.Context": "timer_service timestamp",
    "KeyedCoProcessFunction.Context": "get_current_key timer_service timestamp",
    "KeyedCoProcessFunction.OnTimerContext": "get_current_key time_domain timer_service timestamp",
    "BroadcastProcessFunction.Context": "current_processing_time current_watermark get_broadcast_state timestamp",
    "BroadcastProcessFunction.ReadOnlyContext": "current_watermark get_broadcast_state timestamp",
    "KeyedBroadcastProcessFunction.Context": "apply_to_keyed_state current_watermark get_broadcast_state timestamp",
    "KeyedBroadcastProcessFunction.ReadOnlyContext": "get_broadcast_state get_current_key timer_service timestamp",
    "KeyedBroadcastProcessFunction.OnTimerContext": "get_broadcast_state get_current_key time_domain timer_service",
    "ProcessWindowFunction.Context": "current_processing_time current_watermark global_state window window_state",
    "ProcessAllWindowFunction.Context": "global_state window window_state",
}
"""The classes inside the functions, with methods they have in PyFlink."""

TTL = {
    "StateTtlConfig": "get_cleanup_strategies get_state_visibility get_ttl get_ttl_time_characteristic get_update_type "
    "is_enabled new_builder",
    "StateTtlConfig.Builder": "build cleanup_full_snapshot cleanup_in_rocksdb_compact_filter cleanup_incrementally "
    "disable_cleanup_in_background never_return_expired return_expired_if_not_cleaned_up set_state_visibility set_ttl "
    "set_ttl_time_characteristic set_update_type update_ttl_on_create_and_write update_ttl_on_read_and_write "
    "use_processing_time",
    "StateTtlConfig.CleanupStrategies": "EMPTY_STRATEGY get_incremental_cleanup_strategy "
    "get_rocksdb_compact_filter_cleanup_strategy in_full_snapshot is_cleanup_in_background",
    "StateTtlConfig.CleanupStrategies.Strategies": "FULL_STATE_SCAN_SNAPSHOT INCREMENTAL_CLEANUP "
    "ROCKSDB_COMPACTION_FILTER",
    "StateTtlConfig.CleanupStrategies.IncrementalCleanupStrategy": "get_cleanup_size run_cleanup_for_every_record",
    "StateTtlConfig.CleanupStrategies.RocksdbCompactFilterCleanupStrategy": "get_periodic_compaction_time "
    "get_query_time_after_num_entries",
    "StateTtlConfig.StateVisibility": "NeverReturnExpired ReturnExpiredIfNotCleanedUp",
    "StateTtlConfig.TtlTimeCharacteristic": "ProcessingTime",
    "StateTtlConfig.UpdateType": "Disabled OnCreateAndWrite OnReadAndWrite",
}
"""The classes of a time to live, with what they have in PyFlink."""

PARAMETERS = {
    "AggregateFunction": 3,
    "AllWindowFunction": 3,
    "AsyncFunction": 2,
    "BroadcastProcessFunction": 3,
    "CoFlatMapFunction": 3,
    "CoMapFunction": 3,
    "CoProcessFunction": 3,
    "FilterFunction": 1,
    "FlatMapFunction": 2,
    "KeySelector": 2,
    "KeyedBroadcastProcessFunction": 4,
    "KeyedCoProcessFunction": 4,
    "KeyedProcessFunction": 3,
    "MapFunction": 2,
    "ProcessAllWindowFunction": 3,
    "ProcessFunction": 2,
    "ProcessWindowFunction": 4,
    "ReduceFunction": 1,
    "WindowFunction": 4,
}
"""How many types each function class takes in brackets."""


@pytest.mark.filterwarnings("ignore:penstock.*is deprecated:DeprecationWarning")
@pytest.mark.parametrize("module", NAMES)
def test_a_name_is_where_pyflink_has_it(module: str) -> None:
    actual = importlib.import_module(f"penstock.{module}")
    assert not [name for name in NAMES[module].split() if not hasattr(actual, name)]


@pytest.mark.parametrize("context", CONTEXTS)
def test_a_function_has_the_contexts_of_pyflink(context: str) -> None:
    function, _, nested = context.partition(".")
    cls = getattr(getattr(functions, function), nested)
    assert not [name for name in CONTEXTS[context].split() if not callable(getattr(cls, name, None))]


@pytest.mark.parametrize("name", TTL)
def test_a_time_to_live_has_what_pyflink_has(name: str) -> None:
    cls = attrgetter(name)(state)
    assert not [name for name in TTL[name].split() if not hasattr(cls, name)]


@pytest.mark.parametrize("function", PARAMETERS)
def test_functions_can_be_subscripted(function: str) -> None:
    cls = getattr(functions, function)
    types = (str, int, bytes, float)[: PARAMETERS[function]]
    subscripted = cls[types]
    assert subscripted.__origin__ is cls
    assert issubclass(type("Own", (cls,), {}), cls)


def test_subscripted_classes_can_be_called() -> None:
    assert OutputTag[str]("late") == OutputTag("late")
    assert ListTypeInfo[int](Types.INT()) == Types.LIST(Types.INT())
    assert ValueStateDescriptor[int]("n") == ValueStateDescriptor("n")
    assert WatermarkStrategy[int]("none").generator() is not None
