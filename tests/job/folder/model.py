"""All that can happen to a checkpoint directory, explored."""

from __future__ import annotations

import pickle
import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from penstock.errors import DirectoryHeldError, FencedError
from penstock.job.folder.cleaner import Cleaner
from penstock.job.folder.files import Files
from penstock.job.folder.manifest import OperatorState, SourceState, StepManifest, decoded, encoded
from penstock.job.folder.owners import Owner
from penstock.job.folder.writer import Writer
from penstock.runtime.config.tasks import StateFile
from tests.job.folder.simulated import MANIFESTS, PLACE, SIMULATED, STATE, Paused

OPERATOR = "0" * 32
OWNER = Owner("model", "host", 1, "user", 0)
RETAINED = 2
FAULTS = ("unanswered", "refused", "late", "retried")


D = TypeVar("D", "Driver", "World")


class Violation(AssertionError):
    """Something has happened that must not."""


@dataclass(frozen=True)
class Driver:
    """A process between two of its calls."""

    number: int
    plan: tuple[str, ...] = ()
    written: int = 0
    objects: bytes = b""
    answers: tuple[Any, ...] = ()
    held: tuple[int, tuple[str, ...]] | None = None


@dataclass(frozen=True)
class World:
    files: frozenset[tuple[str, bytes]]
    drivers: tuple[Driver, ...]
    waiting: tuple[tuple[str, ...], ...]
    late: tuple[tuple[str, bytes], ...] = ()
    faults: int = 0
    failures: int = 0
    zombies: int = 0
    history: tuple[bytes, ...] = ()
    pinned: frozenset[int] = frozenset()
    referred: frozenset[tuple[int, str]] = frozenset()

    @property
    def kept(self) -> set[int]:
        return {*self.pinned, *(version for version, _ in self.referred)}


@lru_cache(100_000)
def manifest(data: bytes, version: int) -> StepManifest:
    """What is in the file of a version."""
    return decoded(data, version, "model")


def position(one: StepManifest) -> int:
    """How many steps have been made for a state."""
    return one.sources[OPERATOR].positions["split"] if one.sources else 0


def replace(one: D, **fields: Any) -> D:
    """As that of dataclasses, which takes five times as long: all worlds of these tests are made by it."""
    new = object.__new__(type(one))
    new.__dict__.update(one.__dict__, **fields)
    return new


def begun(driver: Driver) -> tuple[Writer, Cleaner]:
    if driver.objects:
        return pickle.loads(driver.objects)
    files = Files(PLACE, SIMULATED)
    writer = Writer(files, OWNER, RETAINED)
    return writer, Cleaner(files, writer)


def step_manifest(writer: Writer, driver: Driver) -> StepManifest:
    """What the driver commits: its file, and the one before it, as a log follows a snapshot."""
    before = writer.newest
    chain = before.operators[OPERATOR].subtasks[0][-1:] if before is not None and before.operators else ()
    name = f"{OPERATOR}-{driver.number}-{driver.written}"
    operator = OperatorState("sum", None, 1, 1, ((*chain, StateFile(OPERATOR, name, "log", 1, "", 1)),))
    count = (position(before) if before is not None else 0) + 1
    sources = {OPERATOR: SourceState({"split": count})}
    run = str(driver.number)
    return StepManifest(writer.version + 1, "model", run, 0, operators={OPERATOR: operator}, sources=sources)


def act(driver: Driver, writer: Writer, cleaner: Cleaner) -> Driver:
    """Run one operation of a driver, to its end."""
    operation, *rest = driver.plan
    after = replace(driver, plan=tuple(rest))
    try:
        if operation == "open":
            writer.take(writer._files.owners.highest())
        elif operation == "write":
            SIMULATED.put(f"{STATE}{OPERATOR}-{driver.number}-{driver.written + 1}", b"state")
            after = replace(after, written=driver.written + 1)
        elif operation == "commit":
            DONE.append(writer.commit(step_manifest(writer, driver)))
        elif operation == "settle":
            writer.settled()
        elif operation == "clean":
            cleaner.clean()
        elif operation == "hold" and writer.version:
            newest = writer.settled()
            assert newest is not None
            writer.hold(newest.version)
            after = replace(after, held=(newest.version, tuple(newest.files())))
        elif operation == "copied" and driver.held is not None:
            copied(writer, *driver.held)
            after = replace(after, held=None)
        elif writer.version:
            keep(operation, driver, writer)
    except TimeoutError:
        again = {"open": (), "commit": ("settle", "clean", "write", "commit", *rest)}
        cleaner.failed()
        return replace(driver, plan=again.get(operation, driver.plan))
    return after


def keep(operation: str, driver: Driver, writer: Writer) -> None:
    """Pin versions, also for savepoints by reference, or let them go."""
    if operation == "pin":
        writer.pin(writer.version)
        DONE.append(writer.version)
    elif operation == "refer":
        refers = writer.version, f"{driver.number:032x}"
        writer.pin(*refers)
        DONE.append(refers)
    elif operation.startswith("remove "):  # whoever does it has nothing of a driver
        for version in (1, 2):
            writer._files.pins.free(version, f"{int(operation.split()[1]):032x}")
    elif operation == "unpin":
        for version in sorted(writer.pins):
            writer.unpin(version)


def copied(writer: Writer, version: int, names: tuple[str, ...]) -> None:
    """Copy what was held: all of it, as long as no other driver has the folder."""
    try:
        for name in names:
            SIMULATED.get(f"{STATE}{name}")
    except FileNotFoundError:
        if writer._files.owners.highest() == writer.epoch:
            raise Violation(f"version {version} is held, and a file of it is not there") from None
    writer.release(version)


DONE: list[StepManifest | int | tuple[int, str]] = []
"""What the operation that runs was told to have done: commits, and versions that were pinned, also for savepoints."""


def moved(world: World, at: int, fault: str = "") -> World:
    """The world after one more call of a driver."""
    driver, files = world.drivers[at], dict(world.files)
    SIMULATED.begin(files, driver.answers, 1, fault)
    DONE.clear()
    if driver.plan[0] == "unpin":
        world = replace(world, pinned=frozenset())
    if driver.plan[0].startswith("remove "):
        gone = f"{int(driver.plan[0].split()[1]):032x}"
        if not driver.answers and all(savepoint != gone for _, savepoint in world.referred):  # there is none so far
            return with_driver(world, at, replace(driver, plan=driver.plan[1:]))
        world = replace(world, referred=frozenset(reference for reference in world.referred if reference[1] != gone))
    try:
        writer, cleaner = begun(driver)
        after = act(driver, writer, cleaner)
        after = replace(after, objects=pickle.dumps((writer, cleaner)) if after.plan else b"", answers=())
    except Paused:
        after = replace(driver, answers=tuple(SIMULATED.answers))
    except (FencedError, DirectoryHeldError):
        after = replace(driver, plan=(), objects=b"", answers=())
    late = (*world.late, SIMULATED.late) if SIMULATED.late else world.late
    faults = world.faults - bool(fault)
    world = with_files(replace(with_driver(world, at, after), late=late, faults=faults), files)
    for done in DONE:
        if isinstance(done, int):
            world = replace(world, pinned=world.pinned | {done})
        elif isinstance(done, tuple):
            world = replace(world, referred=world.referred | {done})
        elif world.history[done.version - 1] != encoded(done):
            raise Violation(f"version {done.version} was acknowledged and is not what counts")
    return world


def with_driver(world: World, at: int, driver: Driver) -> World:
    """The world with another state of a driver."""
    return replace(world, drivers=(*world.drivers[:at], driver, *world.drivers[at + 1 :]))


def with_files(world: World, files: dict[str, bytes]) -> World:
    """The world with other files, which are as they must be."""
    newest = max((int(path[len(MANIFESTS) : -5]) for path in files if path.startswith(MANIFESTS)), default=0)
    history = world.history
    if newest < len(history):
        raise Violation(f"version {len(history)} is lost")
    if newest > len(history):
        history = (*history, files[f"{MANIFESTS}{newest}.json"])
        follows(history, newest)
    if newest:
        complete(files, history, {*manifest(history[-1], newest).retained, newest, *world.kept})
    return replace(world, files=frozenset(files.items()), history=history)


def follows(history: tuple[bytes, ...], newest: int) -> None:
    """The newest version is made of the one before."""
    if newest != len(history):
        raise Violation(f"version {newest} follows {len(history) - 1}")
    now = manifest(history[-1], newest)
    before = manifest(history[-2], newest - 1) if newest > 1 else StepManifest(0, "", "", 0)
    if now.epoch < before.epoch:
        raise Violation(f"version {newest} is of a driver that was replaced")
    if position(now) != position(before) + (not now.sealed):
        raise Violation(f"version {newest} is not made of the one before")


def complete(files: dict[str, bytes], history: tuple[bytes, ...], counting: set[int]) -> None:
    """All that counts is there; and of whatever is there that ever counted, all that it names."""
    for version, data in enumerate(history, 1):
        exists = files.get(f"{MANIFESTS}{version}.json") == data
        if version in counting and not exists:
            raise Violation(f"version {version} is retained, and not there")
        for name in manifest(data, version).files() if exists else ():
            if STATE + name not in files:
                raise Violation(f"version {version} names {name}, which is not there")


def successors(world: World) -> Iterator[World]:
    if world.waiting:
        new = Driver(len(world.drivers), world.waiting[0])
        yield replace(world, drivers=(*world.drivers, new), waiting=world.waiting[1:])
    for at, driver in enumerate(world.drivers):
        if not driver.plan:
            continue
        yield moved(world, at)
        for fault in FAULTS if world.faults and SIMULATED.created else ():
            yield moved(world, at, fault)
        if world.failures and driver.plan[0] == "commit" and not driver.answers:
            writer, cleaner = begun(driver)
            cleaner.failed()
            plan = ("clean", "write", *driver.plan)
            failed = replace(driver, plan=plan, objects=pickle.dumps((writer, cleaner)))
            yield replace(with_driver(world, at, failed), failures=world.failures - 1)
    for at, (path, data) in enumerate(world.late):
        rest = (*world.late[:at], *world.late[at + 1 :])
        files = dict(world.files)
        files.setdefault(path, data)
        yield with_files(replace(world, late=rest), files)
    if world.zombies:
        path = f"{STATE}{OPERATOR}-zombie-{world.zombies}"
        yield replace(world, files=world.files | {(path, b"late")}, zombies=world.zombies - 1)


def ended(world: World) -> None:
    """Whatever has happened, the next driver goes on from it, and cleans up."""
    files = dict(world.files)
    SIMULATED.begin(files, (), 10**9)
    before = position(manifest(world.history[-1], len(world.history))) if world.history else 0
    driver = Driver(99)
    writer, cleaner = begun(driver)
    writer.take(writer._files.owners.highest())
    for written in (1, 2):
        SIMULATED.put(f"{STATE}{OPERATOR}-99-{written}", b"state")
        writer.commit(step_manifest(writer, replace(driver, written=written)))
        cleaner.failed()  # so it lists everything
        cleaner.clean()
    newest = writer.newest
    assert newest is not None
    if not world.kept <= set(writer.counting):
        raise Violation(f"of {world.kept}, which are pinned, only {writer.counting} count")
    if position(newest) != before + 2:
        raise Violation(f"the next driver has come to {position(newest)} from {before}")
    kept = {f"{MANIFESTS}{version}.json" for version in writer.counting}
    for version in writer.counting:
        kept |= {STATE + name for name in manifest(files[f"{MANIFESTS}{version}.json"], version).files()}
    pins = {path for path, _, version, _ in writer._files.pins.entries() if version in writer.counting}
    left = set(files) - kept - pins - {f"{PLACE}/lease/owner-{writer.epoch}.json"}
    if left:
        raise Violation(f"nobody removes {sorted(left)}")


def explore(world: World, limit: int = 10**9, share: float = 1.0) -> int:
    """Visit every world that can come of one, the nearest first; or a share of those that come of each one visited."""
    seen, waiting, closed = {world}, deque([world]), set[frozenset[tuple[str, bytes]]]()
    chance = random.Random(1)
    while waiting and len(seen) < limit:
        now = waiting.popleft()
        if now.files not in closed:
            closed.add(now.files)
            ended(now)
        for after in successors(now):
            if after not in seen:
                seen.add(after)
                if share == 1 or chance.random() < share:
                    waiting.append(after)
    return len(seen)
