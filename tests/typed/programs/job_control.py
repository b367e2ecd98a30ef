"""Jobs in the background, and what configures a program, as an editor sees them."""

from __future__ import annotations

from typing_extensions import assert_type

from penstock.common import CompletableFuture, ExecutionConfig, JobExecutionResult, JobID, JobStatus, RestartStrategies
from penstock.datastream import CheckpointConfig, SlotSharingGroup, StateBackend, StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
client = env.execute_async("counts")
assert_type(client.get_job_id(), JobID)
assert_type(client.get_job_status(), CompletableFuture[JobStatus])
assert_type(client.get_job_status().result(), JobStatus)
assert_type(client.get_job_execution_result().result(timeout=1.5), JobExecutionResult)
assert_type(client.get_accumulators().result(), dict[str, int])
assert_type(client.cancel().exception(), BaseException | None)

config = env.get_config().set_parallelism(2).enable_object_reuse()
assert_type(config, ExecutionConfig)
assert_type(config.get_global_job_parameters(), dict[str, str])
assert_type(env.get_checkpoint_config().set_checkpoint_timeout(1000), CheckpointConfig)
assert_type(env.get_state_backend(), StateBackend | None)
assert_type(env.set_restart_strategy(RestartStrategies.failure_rate_restart(1, 1000, 10)), StreamExecutionEnvironment)

group = SlotSharingGroup.builder("big").set_cpu_cores(1).set_task_heap_memory_mb(100).build()
assert_type(group, SlotSharingGroup)
env.from_collection([1]).map(str).slot_sharing_group(group).print()
env.configure({"parallelism.default": 2})  # error: reportArgumentType
env.register_slot_sharing_group("big")  # error: reportArgumentType
config.set_parallelism("2")  # error: reportArgumentType
