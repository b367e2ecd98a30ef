"""Runs one program on the real PyFlink: ``PYTHON on_pyflink.py JOB``, where JOB is a file with a request in JSON.

The folder that it names gets the file ``outputs``, a line each, and ``savepoint``, if one is asked for: the job is
stopped with it when all records are through.
"""

import json
import os
import sys
import time
from pathlib import Path

from pyflink.common import Configuration, Duration, Types, WatermarkStrategy
from pyflink.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.functions import MapFunction
from pyflink.java_gateway import get_gateway

HERE = Path(__file__).parent
QUIET = 3  # seconds after which all bundles and watermarks have gone through


class Noted(MapFunction):
    """Writes each value into a file."""

    def __init__(self, path):
        self.path = path

    def map(self, value):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(value + "\n")
        return value


def count(path):
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def run(request):
    folder = Path(request["folder"])
    folder.mkdir(parents=True)
    settings = {"python.fn-execution.bundle.time": "200", **request["settings"]}
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_runtime_mode(RuntimeExecutionMode.STREAMING)
    env.set_parallelism(request["parallelism"])
    env.set_max_parallelism(request["max_parallelism"])
    env.set_python_executable(sys.executable)
    lines = [json.dumps(record) for record in request["records"]]
    inputs, seen, outputs = folder / "inputs", folder / "seen", folder / "outputs"
    inputs.mkdir()
    (inputs / "lines").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(inputs))
    if request["savepoint"]:
        source = source.monitor_continuously(Duration.of_millis(200))
    stream = env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "lines").uid("lines").set_parallelism(1)
    noted = stream.map(Noted(str(seen)), Types.STRING()).set_parallelism(1)
    define, _ = globals()["PROGRAMS"][request["name"]]
    define(noted).map(Noted(str(outputs)), Types.STRING()).print()
    if not request["savepoint"]:
        env.execute(request["name"])
        return
    client = env.execute_async(request["name"])
    while count(seen) < len(lines):
        time.sleep(0.2)
    size = -1
    while size != (size := count(outputs)):
        time.sleep(QUIET)
    # PyFlink's own stop_with_savepoint calls a method of Java that is no longer there
    form = get_gateway().jvm.org.apache.flink.core.execution.SavepointFormatType.CANONICAL
    client._j_job_client.stopWithSavepoint(False, str(folder / "savepoint"), form).get()


def main():
    run(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))


if __name__ == "__main__":
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    exec(compile((HERE / "programs.py").read_text(encoding="utf-8"), "programs.py", "exec"))
    main()
