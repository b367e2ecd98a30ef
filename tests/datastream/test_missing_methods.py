"""Methods that are not there: every one of PyFlink's has advice, and no private name is ever suggested."""

from __future__ import annotations

import copy
import pickle
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

from penstock.datastream.program import missing_methods
from penstock.errors import MissingMethodError, UnsupportedError
from tests.datastream.wrong_calls.world import World

OF_PYFLINK = {
    "StreamExecutionEnvironment": """
        add_classpaths add_jars add_python_archive add_python_file add_source close configure create_input
        disable_operator_chaining enable_changelog_state_backend enable_checkpointing execute execute_async
        from_collection from_source get_buffer_timeout get_checkpoint_config get_checkpoint_interval
        get_checkpointing_consistency_mode get_checkpointing_mode get_config get_default_local_parallelism
        get_default_savepoint_directory get_execution_environment get_execution_plan get_max_parallelism
        get_parallelism is_chaining_enabled is_chaining_of_operators_with_different_max_parallelism_enabled
        is_changelog_state_backend_enabled is_force_unaligned_checkpoints is_unaligned_checkpoints_enabled
        register_cached_file register_slot_sharing_group set_buffer_timeout set_default_local_parallelism
        set_default_savepoint_directory set_max_parallelism set_parallelism set_python_executable
        set_python_requirements set_runtime_mode
    """,
    "DataStream": """
        add_sink assign_timestamps_and_watermarks broadcast cache connect disable_chaining execute_and_collect
        filter flat_map force_non_parallel forward get_execution_config get_execution_environment get_name
        get_side_output get_type key_by map name partition_custom print process project rebalance rescale
        set_buffer_timeout set_description set_max_parallelism set_parallelism set_uid_hash shuffle sink_to
        slot_sharing_group start_new_chain uid union window_all
    """,
    "KeyedStream": """
        add_sink broadcast cache connect count_window disable_chaining filter flat_map force_non_parallel
        forward get_name key_by map max max_by min min_by name partition_custom print process project rebalance
        reduce rescale set_buffer_timeout set_max_parallelism set_parallelism set_uid_hash shuffle
        slot_sharing_group start_new_chain sum uid union window
    """,
    "WindowedStream": """
        aggregate allowed_lateness apply get_execution_environment get_input_type process reduce
        side_output_late_data trigger
    """,
    "AllWindowedStream": """
        aggregate allowed_lateness apply get_execution_environment get_input_type process reduce
        side_output_late_data trigger
    """,
    "ConnectedStreams": """
        flat_map key_by map process
    """,
    "BroadcastConnectedStream": """
        process
    """,
    "DataStreamSink": """
        disable_chaining name set_description set_parallelism set_uid_hash slot_sharing_group uid
    """,
}
"""The methods of PyFlink 2.3, by class."""

ADVICE = {
    "environment": missing_methods.ENVIRONMENT,
    "stream": missing_methods.STREAM,
    "keyed": missing_methods.KEYED,
    "windowed": missing_methods.WINDOWED,
    "connected": missing_methods.CONNECTED,
    "sink": missing_methods.SINK,
}


def of_class(name: str, folder: Path) -> Any:
    world = World(folder)
    return {
        "StreamExecutionEnvironment": lambda: world.env,
        "DataStream": lambda: world.op,
        "KeyedStream": lambda: world.keyed,
        "WindowedStream": lambda: world.windowed,
        "AllWindowedStream": lambda: world.pairs.count_window_all(2),
        "ConnectedStreams": lambda: world.both,
        "BroadcastConnectedStream": lambda: world.pairs.connect(world.rules),
        "DataStreamSink": lambda: world.op.print(),
    }[name]()


@pytest.mark.parametrize("name", OF_PYFLINK)
def test_what_pyflink_has_is_there_or_has_advice(name: str, tmp_path: Path) -> None:
    thing, advised = of_class(name, tmp_path), 0
    for method in OF_PYFLINK[name].split():
        if not hasattr(thing, method):
            with pytest.raises(MissingMethodError) as caught:
                getattr(thing, method)
            assert "help(" not in str(caught.value), f"{name}.{method} has no advice"
            assert "Did you mean" not in str(caught.value), f"{name}.{method} has no advice"
            advised += 1
    assert advised < len(OF_PYFLINK[name].split())


@pytest.mark.parametrize("table", ADVICE)
def test_advice_is_for_what_is_missing(table: str, tmp_path: Path) -> None:
    world = World(tmp_path)
    things = {
        "environment": world.env,
        "stream": world.op,
        "keyed": world.keyed,
        "windowed": world.windowed,
        "connected": world.both,
        "sink": world.op.print(),
    }
    for method, advice in ADVICE[table].items():
        assert not hasattr(things[table], method), f"{method} is there"
        assert advice[0].isupper()
        assert not advice.endswith("."), "the full stop is added"


@pytest.mark.parametrize("name", OF_PYFLINK)
def test_private_names_are_neither_explained_nor_suggested(name: str, tmp_path: Path) -> None:
    thing = of_class(name, tmp_path)
    private = [
        attribute for attribute in dir(type(thing)) if attribute.startswith("_") and not attribute.startswith("__")
    ]
    for attribute in [*private, "_sink_operators", "__array__", "_repr_html_x"]:
        with pytest.raises(AttributeError) as caught:
            getattr(thing, f"{attribute}x")
        assert type(caught.value) is AttributeError
        with pytest.raises(MissingMethodError) as caught:
            getattr(thing, attribute.strip("_") + "xyz")
        assert re.search(r"(?<!\w)_", str(caught.value)) is None


def test_it_is_an_error_of_both_kinds(tmp_path: Path) -> None:
    stream = World(tmp_path).pairs
    with pytest.raises(UnsupportedError) as caught:
        stream.write_to_kafka(None)
    assert isinstance(caught.value, AttributeError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is MissingMethodError
    assert str(again) == str(caught.value)
    assert getattr(stream, "write_to_kafka", 5) == 5
    assert copy.copy(stream).transformation is stream.transformation


def test_python_adds_no_guess_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(MissingMethodError) as caught:
        World(tmp_path).pairs.sink_operator()
    shown = "".join(traceback.format_exception(caught.value))
    assert "_sink_operator" not in shown
