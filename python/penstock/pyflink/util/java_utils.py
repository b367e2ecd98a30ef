"""The names of PyFlink's ``pyflink.util.java_utils``.

Written by ``tests/pyflink/write_modules.py``.
"""

from __future__ import annotations

from penstock.pyflink.deviating import (
    get_gateway,
    get_j_env_configuration,
    is_local_deployment,
    to_jarray,
)
from penstock.pyflink.missing import (
    add_jars_to_context_class_loader,
    create_url_class_loader,
    from_j_duration,
    from_j_flink_time,
    get_field,
    get_field_value,
    invoke_method,
    is_instance_of,
    load_java_class,
    to_j_duration,
    to_j_explain_detail_arr,
    to_j_flink_time,
)

__all__ = [
    "add_jars_to_context_class_loader",
    "create_url_class_loader",
    "from_j_duration",
    "from_j_flink_time",
    "get_field",
    "get_field_value",
    "get_gateway",
    "get_j_env_configuration",
    "invoke_method",
    "is_instance_of",
    "is_local_deployment",
    "load_java_class",
    "to_j_duration",
    "to_j_explain_detail_arr",
    "to_j_flink_time",
    "to_jarray",
]
