"""A job restored from a savepoint, killed before each change of a file: ``python -m tests.chaos.restores``."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from itertools import count
from pathlib import Path
from typing import Any

from penstock.errors import SavepointError
from penstock.job.folder.files import Files
from penstock.job.folder.lease import JobFolder
from penstock.job.savepoint.contents import verify
from penstock.job.savepoint.store import read_savepoint, write_savepoint
from penstock.storage.stores import storage_of
from tests.datastream import feeding
from tests.datastream.edits import UIDS
from tests.datastream.run_exactly_once import Exact, ExactNotes
from tests.generator.operators import Bag
from tests.generator.programs import SINK, Node, Program, build, environment
from tests.generator.world import World
from tests.job.commit.crashes import dies_at

OLD = UIDS
NEW = UIDS.insert(Node("first", "first", ("u",), uid="first-uid"), ["count"]).change("window", parallelism=3)
SOONER, LATER = 6, 12


class Shown(Exact):
    def write(self, value: Any) -> None:
        self.values.append(value)


class Restore:
    """The jobs and their savepoint, in a folder."""

    def __init__(self, root: Path, direct: bool = False) -> None:
        self.root, self.old, self.new, self.savepoint = root, root / "old", root / "new", root / "savepoint"
        self._from = self.old / "job" if direct else self.savepoint
        self.world = World()

    def run(self, program: Program, place: Path, available: int, ends: bool, **settings: str) -> None:
        """Run a program in a folder of its own."""
        notes = ExactNotes(str(place))

        def show(stream: Any, node: Node) -> Any:
            return stream.sink_to(Shown(notes, node.label)).name(node.label)

        now = {} if ends else {"penstock__step__available_now": "true"}
        folder = {"execution__checkpointing__dir": str(place / "job"), "penstock__step__records": "12"}
        env = environment(program, **folder, **now, **settings)
        build(program, env, available, ends, show)
        env.execute("restored")

    def begin(self) -> None:
        self.old.mkdir(parents=True)
        self.run(OLD, self.old, SOONER, False)
        assert outputs(self.old, OLD) == self.world.run(OLD, SOONER, False)

    def take(self) -> None:
        folder = JobFolder(str(self.old / "job"))
        newest = folder.newest()
        assert newest is not None
        write_savepoint(Files(folder.place, storage_of(folder.place)), newest, self.savepoint)

    def restore(self) -> None:
        """The new job begins from it, or goes on, and ends."""
        self.new.mkdir(exist_ok=True)
        self.run(NEW, self.new, LATER, True, execution__savepoint__path=str(self._from))

    def check_old(self, before: dict[str, str]) -> None:
        """The old job is as it was."""
        assert content(self.old) == before

    def check_savepoint(self) -> None:
        report = verify(read_savepoint(self.savepoint))
        assert not report.problems
        assert not report.unnamed

    def check_new(self) -> None:
        """The new job is whole, or not there: what its newest version needs is."""
        job = self.new / "job"
        newest = JobFolder(str(job)).newest() if job.exists() else None
        if newest is not None and not newest.is_nothing:
            missing = [name for name in newest.files() if not (job / "state" / name).is_file()]
            assert not missing

    def check_outputs(self) -> None:
        """The new job has ended, with what the edited program must give."""
        assert outputs(self.new, NEW) == self.world.run(NEW, LATER, True)

    def go_on(self) -> None:
        """The old job goes on to its end as if nothing had been."""
        world = World()
        expected = world.run(OLD, SOONER, False), world.run(OLD, LATER, True)
        self.run(OLD, self.old, LATER, True)
        assert outputs(self.old, OLD) == {label: expected[0][label] + expected[1][label] for label in expected[0]}


def outputs(place: Path, program: Program) -> dict[str, Bag]:
    bags: dict[str, Bag] = {node.label: Counter() for node in program.nodes if node.kind == SINK}
    for _, _, sink, _, values in ExactNotes(str(place)).committed():
        bags[sink].update(values)
    return bags


def content(place: Path) -> dict[str, str]:
    """What is in a folder: checksums by path. Who holds the job is its own affair."""
    files = (path for path in sorted(place.rglob("*")) if path.is_file() and path.parent.name != "lease")
    return {str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def killed_while_taking(root: Path, number: int) -> bool:
    """Die while the savepoint is taken; whether there was such a change."""
    restore = Restore(root)
    restore.begin()
    before = content(restore.old)
    died = dies_at(number, restore.take)
    restore.check_old(before)
    if died:
        exists = False
        with suppress(SavepointError):
            exists = bool(read_savepoint(restore.savepoint))
        if not exists:
            restore.take()
    restore.check_savepoint()
    restore.restore()
    restore.check_outputs()
    restore.go_on()
    return died


def killed_while_restoring(root: Path, number: int, direct: bool = False) -> bool:
    """Die while the new job begins, or runs; whether there was such a change."""
    restore = Restore(root, direct)
    restore.begin()
    restore.take()
    before = content(restore.old)
    died = dies_at(number, restore.restore)
    restore.check_old(before)
    restore.check_savepoint()
    restore.check_new()
    if died:
        restore.restore()
    restore.check_outputs()
    restore.check_old(before)
    restore.go_on()
    return died


def all_of(kill: Callable[[Path, int], bool]) -> Iterator[int]:
    """Die before each change, one after the other; their numbers."""
    for number in count():
        with feeding.folder() as root:
            if not kill(Path(root) / "root", number):
                return
            yield number


# --- damaged savepoints -----------------------------------------------------------------------------------------------


def damaged(savepoint: Path, draw: Any) -> str:
    """Damage a savepoint by chance; what was done to it."""
    files = sorted(path for path in savepoint.rglob("*") if path.is_file())
    path = savepoint / "savepoint.json" if draw.random() < 0.5 else draw.choice(files)
    data = bytearray(path.read_bytes())
    how = draw.choice(["cut", "bit", "zeros", "gone", "longer", "another"])
    if how == "gone":
        path.unlink()
        return f"{path.name} is gone"
    if how == "another":
        data = bytearray(draw.choice(files).read_bytes())
    elif how == "cut":
        del data[draw.randrange(len(data)) :]
    elif how == "bit":
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif how == "zeros":
        at = draw.randrange(len(data))
        data[at : at + 20] = bytes(len(data[at : at + 20]))
    else:
        data += draw.randbytes(draw.randint(1, 9))
    path.unlink()  # it may have another name in the checkpoint directory
    path.write_bytes(bytes(data))
    return f"{path.name}: {how}"


def copied(one: Restore, to: Path) -> Restore:
    """The jobs and the savepoint once more, in another folder."""
    shutil.copytree(one.root, to)
    another = Restore(to)
    another.world = deepcopy(one.world)
    return another


def main() -> int:
    for name, kill in (
        ("taking", killed_while_taking),
        ("restoring", killed_while_restoring),
        ("restoring from a job", lambda root, number: killed_while_restoring(root, number, True)),
    ):
        print(json.dumps({name: len(list(all_of(kill)))}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
