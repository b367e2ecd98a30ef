"""Functions that import from a file of the program's, and find an archive's files."""

import shutil
import tempfile
from pathlib import Path

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment


def shout(word):
    from loudness_of_programs import loud

    return loud(word)


def greet(word):
    with open("greetings/hello.txt") as file:
        return f"{file.read().strip()} {word}"


if __name__ == "__main__":
    folder = Path(tempfile.mkdtemp())
    (folder / "loudness_of_programs.py").write_text("def loud(word):\n    return word.upper() + '!'\n")
    (folder / "content").mkdir()
    (folder / "content" / "hello.txt").write_text("hello\n")
    archive = shutil.make_archive(str(folder / "greetings"), "zip", folder / "content")
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(1)
    env.add_python_file(str(folder / "loudness_of_programs.py"))
    env.add_python_archive(archive, "greetings")
    words = env.from_collection(["one", "two"], type_info=Types.STRING())
    words.map(shout, output_type=Types.STRING()).print("file")
    words.map(greet, output_type=Types.STRING()).print("archive")
    env.execute()
