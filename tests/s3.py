"""An S3 service in memory (moto), in a process of its own."""

from __future__ import annotations

import contextlib
import functools
import subprocess
import sys
import threading
import urllib.request
import uuid
from collections.abc import Iterator

from tests.running import answers, free_ports

NEEDS = ("moto", "flask", "flask_cors", "s3fs")
"""Modules, without which there is none."""


@contextlib.contextmanager
def s3_service() -> Iterator[str]:
    for _ in range(5):  # another process may take the port first
        [port] = free_ports(1)
        command = [sys.executable, "-m", "tests.s3", str(port)]
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            if answers(server, port, 180):
                yield f"http://127.0.0.1:{port}"
                return
        finally:
            server.terminate()
            server.wait()
    raise RuntimeError("the S3 endpoint has ended instead of serving, or does not answer")


def new_bucket(endpoint: str) -> tuple[str, dict[str, str]]:
    """The URL of an empty bucket, and the variables by which programs reach it."""
    name = f"penstock-{uuid.uuid4().hex[:12]}"
    urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT")).close()
    return f"s3://{name}", {
        "AWS_ACCESS_KEY_ID": "tester",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": endpoint,
    }


def serve(port: str) -> None:
    """Serve, and take one name at a time: moto looks whether there is one and writes it in two steps, S3 in one."""
    from moto.s3.responses import S3Response
    from moto.server import main

    lock = threading.RLock()
    for method in ("put_object", "_key_response_post"):
        setattr(S3Response, method, _alone(lock, getattr(S3Response, method)))
    main(["-H", "127.0.0.1", "-p", port])


def _alone(lock, method):
    @functools.wraps(method)
    def call(*arguments, **named):
        with lock:
            return method(*arguments, **named)

    return call


if __name__ == "__main__":
    serve(sys.argv[1])
