"""What a program ships: user functions find its modules, archives, requirements and files, wherever they run."""

from __future__ import annotations

import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration
from penstock.datastream import MapFunction, StreamExecutionEnvironment
from penstock.errors import ConfigurationError, JobExecutionError, UnknownNameError, UnsupportedError
from penstock.job.shipped_files import same_python, ship
from penstock.plan import Pipeline

Env = StreamExecutionEnvironment


@pytest.fixture(autouse=True)
def nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Programs run in a folder of their own, and leave the process as it was."""
    monkeypatch.chdir(tmp_path)
    path, folder = list(sys.path), os.getcwd()
    yield
    assert (sys.path, os.getcwd()) == (path, folder)


@pytest.fixture
def env() -> Env:
    return StreamExecutionEnvironment.get_execution_environment(executor="local")


def results(env: Env, function: Any) -> list[Any]:
    with env.from_collection([1, 2]).rebalance().map(function).execute_and_collect() as records:
        return list(records)


def zipped(name: str, files: dict[str, str]) -> str:
    with zipfile.ZipFile(name, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return name


# --- modules ----------------------------------------------------------------------------------------------------------


def module(folder: Path) -> str:
    (folder / "shipped_module.py").write_text("NUMBER = 10\n")
    return "shipped_module.py"


def package(folder: Path) -> str:
    inside = folder / "somewhere" / "shipped_module"
    inside.mkdir(parents=True)
    (inside / "__init__.py").write_text("from shipped_module.part import NUMBER\n")
    (inside / "part.py").write_text("NUMBER = 10\n")
    return str(inside)


def folder_of_modules(folder: Path) -> str:
    (folder / "modules").mkdir()
    (folder / "modules" / "shipped_module.py").write_text("NUMBER = 10\n")
    return f"file://{folder}/modules"


def zip_of_modules(folder: Path) -> str:
    return zipped("modules.zip", {"shipped_module.py": "NUMBER = 10\n"})


@pytest.mark.parametrize("make", [module, package, folder_of_modules, zip_of_modules])
def test_functions_import_what_was_added(make: Callable[[Path], str], env: Env, tmp_path: Path) -> None:
    env.add_python_file(make(tmp_path))

    def add(value: int) -> int:
        import shipped_module  # type: ignore[import-not-found]

        return value + shipped_module.NUMBER

    assert results(env, add) == [11, 12]
    other = StreamExecutionEnvironment.get_execution_environment(executor="local")
    assert results(other, lambda value: "shipped_module" in sys.modules) == [False, False]


def test_each_program_has_its_own_modules(env: Env, tmp_path: Path) -> None:
    """Also if they have the same names, and if the file has changed in between."""

    def number(_: int) -> int:
        import shipped_module  # type: ignore[import-not-found]

        return shipped_module.NUMBER

    for expected in (1, 2):
        folder = tmp_path / str(expected)
        folder.mkdir()
        (folder / "shipped_module.py").write_text(f"NUMBER = {expected}\n")
        other = StreamExecutionEnvironment.get_execution_environment(executor="local")
        other.add_python_file(str(folder / "shipped_module.py"))
        assert results(other, number) == [expected] * 2
    (tmp_path / "2" / "shipped_module.py").write_text("NUMBER = 30\n")
    assert results(other, number) == [30, 30]


def test_what_is_not_added_is_not_found(env: Env) -> None:
    def add(value: int) -> int:
        import shipped_module  # type: ignore[import-not-found]

        return shipped_module

    with pytest.raises(JobExecutionError, match="shipped_module"):
        results(env, add)


# --- archives ---------------------------------------------------------------------------------------------------------


def test_archives_are_in_the_current_folder(env: Env) -> None:
    zipped("data.zip", {"deep/words.txt": "to be"})
    Path("words.txt").write_text("or not")
    with tarfile.open("data.tar.gz", "w:gz") as archive:
        archive.add("words.txt")
    env.add_python_archive("data.zip")
    env.add_python_archive("data.zip", "again")
    env.add_python_archive("data.tar.gz", "a/b")

    def read(_: int) -> list[str]:
        paths = "data.zip/deep/words.txt", "again/deep/words.txt", "a/b/words.txt"
        return [Path(path).read_text() for path in paths]

    assert results(env, read) == [["to be", "to be", "or not"]] * 2


def test_programs_in_archives_can_be_executed(env: Env) -> None:
    info = zipfile.ZipInfo("run.sh")
    info.external_attr = 0o755 << 16
    with zipfile.ZipFile("programs.zip", "w") as archive:
        archive.writestr(info, "#!/bin/sh\n")
        archive.writestr("plain.txt", "")
    env.add_python_archive("programs.zip", "programs")

    def executable(_: int) -> tuple[bool, bool]:
        return os.access("programs/run.sh", os.X_OK), os.access("programs/plain.txt", os.X_OK)

    assert results(env, executable) == [(True, False)] * 2


def test_sources_and_sinks_mind_the_programs_own_folder(env: Env) -> None:
    Path("lines.txt").write_text("a\nb\n")
    env.add_python_archive(zipped("data.zip", {"words.txt": "to be"}))
    env.read_text_file("lines.txt").map(lambda line: line + Path("data.zip/words.txt").read_text()).write_as_text("out")
    env.execute()
    assert Path("out").read_text() == "ato be\nbto be\n"


def test_a_job_in_the_background_has_no_folder_of_its_own(env: Env) -> None:
    env.add_python_archive(zipped("data.zip", {"words.txt": "to be"}))
    env.from_collection([1]).print()
    error = env.execute_async().get_job_execution_result().exception(60)
    assert isinstance(error, UnsupportedError)
    assert "in the main thread, or Spark" in str(error)


# --- registered files -------------------------------------------------------------------------------------------------


class Cached(MapFunction):
    """Tells of a file by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def open(self, runtime_context):
        self.path = runtime_context.get_distributed_cache().get_file(self.name)

    def map(self, value):
        path = Path(self.path)
        return sorted(p.name for p in path.iterdir()) if path.is_dir() else (path.name, path.read_text())


def test_registered_files_are_found_by_name(env: Env) -> None:
    Path("model.txt").write_text("weights")
    Path("other.txt").write_text("of no interest")
    Path("folder/__pycache__").mkdir(parents=True)
    Path("folder/part").touch()
    Path("folder/empty").mkdir()
    env.register_cached_file("model.txt", "model")
    env.register_cached_file("other.txt", "model")
    env.register_cached_file("folder", "all of it")
    assert results(env, Cached("model")) == [("model.txt", "weights")] * 2
    assert results(env, Cached("all of it")) == [["empty", "part"]] * 2
    assert env.settings.cached_files == (("model", "model.txt", False), ("all of it", "folder", False))


def test_a_registered_file_can_be_executed_if_it_was_said(env: Env) -> None:
    for name in ("yes", "no"):
        Path(name).touch()
        os.chmod(name, 0o600)
        env.register_cached_file(name, name, name == "yes")

    class Modes(MapFunction):
        def open(self, runtime_context):
            cache = runtime_context.get_distributed_cache()
            self.modes = [bool(os.stat(cache.get_file(name)).st_mode & stat.S_IXUSR) for name in ("yes", "no")]

        def map(self, value):
            return self.modes

    assert results(env, Modes()) == [[True, False]] * 2


@pytest.mark.parametrize("registered", ["'model'", "none"])
def test_a_name_that_was_not_registered(registered: str, env: Env) -> None:
    if registered != "none":
        Path("model.txt").touch()
        env.register_cached_file("model.txt", "model")
    with pytest.raises(JobExecutionError, match=f"under the name 'modle'; registered are: {registered}") as caught:
        results(env, Cached("modle"))
    assert isinstance(caught.value.__cause__, UnknownNameError)


def test_registered_files_are_in_the_plan(env: Env) -> None:
    env.register_cached_file("model.txt", "model")
    kept: list[Pipeline] = []

    class Keeping:
        plans_only = True

        def execute(self, pipeline):
            kept.append(pipeline)

    other = StreamExecutionEnvironment.get_execution_environment(executor=Keeping())
    other.register_cached_file("model.txt", "model")
    other.from_collection([1]).print()
    other.execute()
    assert kept[0].job_graph().artifacts == {"model": "model.txt"}


# --- requirements -----------------------------------------------------------------------------------------------------


def wheel(folder: Path) -> str:
    """The name of a package whose wheel is in a folder."""
    folder.mkdir()
    info = "shipped_package-1.0.dist-info"
    files = {
        "shipped_package.py": "NUMBER = 100\n",
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: shipped-package\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    zipped(str(folder / "shipped_package-1.0-py3-none-any.whl"), {**files, f"{info}/RECORD": record})
    return "shipped-package==1.0"


def test_functions_import_what_is_required(env: Env, tmp_path: Path) -> None:
    Path("requirements.txt").write_text(wheel(tmp_path / "packages"))
    env.set_python_requirements("requirements.txt", "packages")

    def add(value: int) -> int:
        import shipped_package  # type: ignore[import-not-found]

        return value + shipped_package.NUMBER

    assert results(env, add) == [101, 102]


def test_requirements_that_cannot_be_installed(env: Env, tmp_path: Path) -> None:
    wheel(tmp_path / "packages")
    Path("requirements.txt").write_text("no-such-package-anywhere")
    env.set_python_requirements("requirements.txt", "packages")
    env.from_collection([1]).print()
    with pytest.raises(
        ConfigurationError, match=r"requirements\.txt.* cannot be installed: .*no-such-package-anywhere"
    ):
        env.execute()


# --- what is wrong, and settings --------------------------------------------------------------------------------------

WRONG: dict[str, Callable[[Env], Any]] = {
    "add_python_file.*no.py.*not there": lambda env: env.add_python_file("no.py"),
    "add_python_archive.*no.zip.*not there": lambda env: env.add_python_archive("no.zip"),
    "add_python_archive.*neither a zip nor a tar file": lambda env: env.add_python_archive(__file__),
    "add_python_archive.*neither a zip nor a tar file. Pack": lambda env: env.add_python_archive("."),
    "add_python_archive.*'../x'.*outside": lambda env: env.add_python_archive(zipped("a.zip", {}), "../x"),
    "register_cached_file.*no.txt.*not there": lambda env: env.register_cached_file("no.txt", "no"),
    "set_python_requirements.*no.txt.*not there": lambda env: env.set_python_requirements("no.txt"),
}


@pytest.mark.parametrize("match", WRONG)
def test_what_is_not_there_is_refused_before_anything_runs(match: str, env: Env) -> None:
    WRONG[match](env)
    env.from_collection([1]).print()
    with pytest.raises(ConfigurationError, match=match):
        env.execute()


def test_a_configuration_says_the_same() -> None:
    Path("shipped_module.py").write_text("NUMBER = 10\n")
    zipped("data.zip", {"words.txt": "to be"})
    Path("model.txt").write_text("weights")
    keys = {
        "python.files": "shipped_module.py",
        "python.archives": "data.zip#data",
        "pipeline.cached-files": "name:model,path:model.txt",
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration(keys), executor="local")

    class All(Cached):
        def map(self, value):
            import shipped_module  # type: ignore[import-not-found]

            return shipped_module.NUMBER, Path("data/words.txt").read_text(), Path(self.path).read_text()

    assert results(env, All("model")) == [(10, "to be", "weights")] * 2


def test_an_archive_is_made_once_for_what_is_in_it(env: Env) -> None:
    assert ship(env.settings) is None
    Path("a.txt").write_text("a")
    env.register_cached_file("a.txt", "a")
    first = ship(env.settings)
    assert first is not None
    assert ship(env.settings) == first
    Path("a.txt").write_text("b")
    assert ship(env.settings) not in (None, first)


def test_another_python_is_refused_here(env: Env) -> None:
    env.from_collection([1]).add_sink(bool)
    env.set_python_executable(sys.executable)
    env.execute()
    env.from_collection([1]).add_sink(bool)
    env.set_python_executable("/no/such/python")
    with pytest.raises(UnsupportedError, match="'/no/such/python', and the local executor runs in this process"):
        env.execute()


def test_one_python_by_two_names(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "bin" / "python3").symlink_to("python")
    assert same_python(str(tmp_path / "bin" / "python"), str(tmp_path / "bin" / "python3"))
    assert not same_python(str(tmp_path / "bin" / "python"), sys.executable), "another environment"
    assert not same_python("no-such-python-anywhere", sys.executable)
