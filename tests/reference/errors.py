"""The one exception of the reference planner: what Flink would have thrown."""

from __future__ import annotations

ILLEGAL_ARGUMENT = "java.lang.IllegalArgumentException"
ILLEGAL_STATE = "java.lang.IllegalStateException"
INDEX_OUT_OF_BOUNDS = "java.lang.IndexOutOfBoundsException"
INVALID_PROGRAM = "org.apache.flink.api.common.InvalidProgramException"
JOB = "org.apache.flink.runtime.JobException"
NULL_POINTER = "java.lang.NullPointerException"
NUMBER_FORMAT = "java.lang.NumberFormatException"
RUNTIME = "java.lang.RuntimeException"
STACK_OVERFLOW = "java.lang.StackOverflowError"
UNSUPPORTED_OPERATION = "java.lang.UnsupportedOperationException"


class FlinkError(Exception):
    """A refusal, by the class of the Java exception, where Flink has one; the message is ours."""

    def __init__(self, java_class: str | None, message: str, cause_class: str | None = None) -> None:
        super().__init__(f"{java_class}: {message}")
        self.java_class = java_class
        self.message = message
        self.cause_class = cause_class

    def to_result(self) -> dict:
        """The error object of the RESULT format."""
        error = {"class": self.java_class, "message": self.message}
        if self.cause_class is not None:
            error["cause_class"] = self.cause_class
        return {"error": error}
