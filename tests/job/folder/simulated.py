"""A storage in memory whose calls can be stopped at, and go on from what was answered so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.storage.storage import Entry, Storage

PLACE = "sim://job"
STATE, MANIFESTS = f"{PLACE}/state/", f"{PLACE}/manifests/manifest-"


class Paused(BaseException):
    """The operation wants another call. Nothing catches it."""


class Simulated(Storage):
    """A storage whose answers are first those of before, then one of its own, then none."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.answers: list[tuple[bool, Any]] = []
        self.begin({}, (), 10**9)

    def __reduce__(self) -> Any:
        return _the_one, ()

    def begin(self, files: dict[str, bytes], answers: tuple[Any, ...], calls: int, fault: str = "") -> None:
        self.files, self.answers, self.position, self.calls = files, list(answers), 0, calls
        self.fault, self.late, self.created = fault, None, False

    def _call(self, effect: Callable[[], Any]) -> Any:
        if self.position == len(self.answers):
            if self.calls == 0:
                raise Paused
            self.calls -= 1
            try:
                self.answers.append((True, effect()))
            except OSError as error:
                self.answers.append((False, type(error)))
        good, answer = self.answers[self.position]
        self.position += 1
        if not good:
            raise answer
        return answer

    def create(self, path: str, data: bytes) -> bool:
        def effect() -> bool:
            fault = self.fault if path.startswith(MANIFESTS) else ""
            self.created = path.startswith(MANIFESTS)
            if fault == "late":
                self.late = (path, data)
            if fault in ("late", "refused"):
                raise TimeoutError
            new = path not in self.files
            if new:
                self.files[path] = data
            if fault == "unanswered":
                raise TimeoutError
            return new and fault != "retried"  # the client has asked again, and found its own file

        return self._call(effect)

    def put(self, path: str, data: bytes) -> None:
        self._call(lambda: self.files.__setitem__(path, data))

    def get(self, path: str) -> bytes:
        def effect() -> bytes:
            if path not in self.files:
                raise FileNotFoundError
            return self.files[path]

        return self._call(effect)

    def list(self, folder: str, *, deep: bool = False) -> list[Entry]:
        def effect() -> tuple[str, ...]:
            return tuple(sorted(path for path in self.files if path.startswith(f"{folder}/")))

        return [Entry(path, 0) for path in self._call(effect)]

    def delete(self, paths: Any) -> None:
        for path in paths:
            self._call(lambda path=path: self.files.pop(path, None) and None)

    def read(self, path: str) -> Any:
        raise NotImplementedError

    def writing(self, path: str) -> Any:
        raise NotImplementedError


SIMULATED = Simulated()


def _the_one() -> Simulated:
    return SIMULATED
