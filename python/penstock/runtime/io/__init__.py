"""Sources and sinks of the runtime, and the files and texts they read and write. Planning them is the DataStream
API's."""
