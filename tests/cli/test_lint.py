"""``penstock lint``: what it prints, its exit status, what it runs twice, and what decides which rules count."""

from __future__ import annotations

import datetime
import json

import pytest

pytestmark = pytest.mark.slow

ENDLESS = """
from penstock.common import WatermarkStrategy
from penstock.datastream.connectors import DataGeneratorSource
numbers = env.from_source(
    DataGeneratorSource(lambda number: number, None), WatermarkStrategy.no_watermarks(), "numbers"
).uid("numbers")
numbers.print()
env.execute()
"""
# Of nine digits at most: ten and more can look like a time, which is a finding of its own.
UNSTABLE = "env.from_collection([1]).uid(f'numbers {hash(\"numbers\") % 10**9}').print(); env.execute()"


@pytest.fixture
def linted(penstock):
    """Calls ``penstock lint``; the lines that it prints, and its exit status. The second run takes a second."""

    def call(*arguments, once=("--once",)):
        result = penstock("lint", *once, *arguments)
        return result.stdout.splitlines(), result.exit_code

    return call


def test_a_program_without_findings(linted, program):
    assert linted(program("env.from_collection([1]).print(); env.execute()")) == (["Nothing found."], 0)


def test_findings_have_a_line_each_and_status_1(linted, program):
    file = program(ENDLESS)
    (finding, total), status = linted(file)
    number = file.read_text().splitlines().index("numbers.print()") + 1
    assert finding.startswith(f"{file}:{number}: PS401 'Sink: Print to Std. Out' prints records")
    assert (total, status) == ("Found 1 thing.", 1)


def test_options_select_rules(linted, program):
    file = program(ENDLESS)
    assert linted("--ignore", "PS4", file)[1] == 0
    assert linted("--select", "PS0,PS1", "--select", "PS2", file)[1] == 0
    lines, _ = linted("--ignore", "PS401", "--extend-select", "PS408", file)
    assert lines[0].startswith(f"{file}: PS408 The program never ends")  # it has no line
    assert linted("--select", "PS999", file)[1] == 1


def test_pyproject_and_comments_count(linted, program, tmp_path):
    file = program(ENDLESS.replace("numbers.print()", "numbers.print()  # penstock: ignore[PS401]"))
    assert linted(file)[1] == 0
    (tmp_path / "pyproject.toml").write_text("[tool.penstock.lint]\nextend-select = ['PS408']\n")
    assert linted(file)[1] == 1
    file.write_text(f"# penstock: ignore-file[PS408]\n{file.read_text()}")
    assert linted(file)[1] == 0


def test_a_file_has_one_name(linted, program, tmp_path, monkeypatch):
    text = ENDLESS.replace("numbers.print()", "numbers.print()  # penstock: ignore[PS401]")
    program(f"# penstock: ignore-file[PS408]\n{text}")
    monkeypatch.chdir(tmp_path)
    assert linted("--extend-select", "PS408", "program.py") == (["Nothing found."], 0)
    assert linted("--extend-select", "PS408", "../" + tmp_path.name + "/program.py") == (["Nothing found."], 0)


def test_json(linted, program):
    lines, status = linted("--format", "json", program(ENDLESS))
    document = json.loads("\n".join(lines))
    (finding,) = document["findings"]
    assert (document["format"], finding["code"], finding["rule"]) == (1, "PS401", "print-sink-in-endless-program")
    assert status == 1


def test_annotations_of_github(linted, program):
    file = program(ENDLESS.replace("numbers.print()", "numbers.print().name('50%, or\\nmore')"))
    (line,), status = linted("--format", "github", file)
    assert line.startswith(f"::error file={file},line=")
    assert ",title=PS401 (print-sink-in-endless-program)::'Sink: 50%25, or" in line
    assert status == 1
    assert linted("--format", "github", program("env.from_collection([1]).print(); env.execute()", "ok.py")) == ([], 0)


def test_a_uid_that_is_another_one_in_the_next_run(linted, program):
    lines, status = linted(program(UNSTABLE), once=())
    assert len(lines) == 2, lines
    finding = lines[0]
    assert " PS004 The uid of 'Source: Collection Source' is 'numbers " in finding
    assert status == 1
    assert linted(program(UNSTABLE)) == (["Nothing found."], 0)


BY_DAY = [
    "datetime.datetime.now().strftime('counts-%Y%m%d')",
    "f'counts-{datetime.date.today()}'",
    "f'counts-{datetime.datetime.now(datetime.timezone.utc):%B}'",
    "time.strftime('counts-%Y-%m-%d')",
    "f'counts-{time.localtime().tm_mday} by localtime'",
    "f'counts-{int(time.time()) // 86_400}'",
    "day()",
]


def test_a_uid_that_is_another_one_on_another_day(linted, program):
    helper = "import datetime, time\nfrom datetime import date\ndef day():\n    return f'{date.today():%A}'\n"
    operators = "\n".join(f"env.from_collection([1]).uid({uid}).print()" for uid in BY_DAY)
    (*findings, _), status = linted("--select", "PS004", program(f"{helper}{operators}\nenv.execute()"), once=())
    assert len(findings) == len(BY_DAY)
    assert all(" PS004 The uid of 'Source: Collection Source' is " in finding for finding in findings)
    assert status == 1


def test_dates_that_a_program_plans_with_are_no_finding(linted, program):
    lines = """
        import datetime, time
        start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
        assert isinstance(start, datetime.datetime) and isinstance(datetime.datetime.now(), datetime.datetime)
        assert datetime.datetime.strptime("2026", "%Y") == datetime.datetime(2026, 1, 1)
        assert time.strftime("%Y", time.gmtime(0)) == "1970" and time.asctime(time.gmtime(0)).endswith("1970")
        assert abs(datetime.datetime.now().timestamp() - time.time()) < 60
        assert datetime.datetime.utcnow().year >= 2026 and datetime.datetime.today().date() == datetime.date.today()
        numbers = env.from_collection([start], Types.SQL_TIMESTAMP()).uid(f"since {start:%Y}")
        numbers.map(str).uid("texts").print()
        env.execute()
    """
    assert linted(program(lines), once=()) == (["Nothing found."], 0)


def test_a_program_that_fails_on_another_day_is_compared_on_the_same(linted, program):
    soon = (datetime.date.today() + datetime.timedelta(days=30)).isoformat()
    lines = f"import datetime\nassert datetime.date.today().isoformat() < {soon!r}\n{UNSTABLE}"
    findings, status = linted(program(lines), once=())
    assert len(findings) == 2, findings
    finding = findings[0]
    assert (" PS004 " in finding, status) == (True, 1)


STATEFUL = ENDLESS.replace('.uid("numbers")', "").replace(
    "numbers.print()", "numbers.key_by(lambda n: n % 3).reduce(max).print()  # penstock: ignore[PS401]"
)


def test_fix_writes_the_uids_that_are_missing(penstock, program):
    file = program(STATEFUL)
    before = file.read_text()
    codes = [line.split()[1] for line in penstock("lint", "--once", file).stdout.splitlines()[:-1]]
    assert codes == ["PS006", "PS001"]
    result = penstock("lint", "--once", "--fix", file)
    assert (result.stdout, result.exit_code) == ("Nothing found.\n", 0), result.stderr
    assert file.read_text() == before.replace('"numbers"\n)', '"numbers"\n).uid("source-numbers")').replace(
        ".reduce(max)", '.reduce(max).uid("keyed-reduce")'
    )
    assert "written: " in result.stderr
    assert "penstock check --from-savepoint" in result.stderr
    assert penstock("lint", "--once", "--fix", file).stderr == ""


def test_fix_keeps_the_ids_of_a_lock_file(penstock, program, tmp_path):
    file = program(STATEFUL)
    assert penstock("lock", file).exit_code == 0
    locked = {
        operator["name"]: operator["id"]
        for operator in json.loads((tmp_path / "penstock.lock").read_text())["operators"]
    }
    result = penstock("lint", "--once", "--fix", file)
    assert result.exit_code == 1
    assert [line.split()[1] for line in result.stdout.splitlines()[:-1]] == ["PS005", "PS005"]
    assert f'.reduce(max).uid("keyed-reduce").set_uid_hash("{locked["Keyed Reduce"]}")' in file.read_text()
    assert penstock("check", file).exit_code == 0


def test_fix_leaves_what_is_suppressed_and_says_what_it_cannot_write(penstock, program):
    loop = "for _ in range(2):\n    numbers.key_by(lambda n: n % 3).reduce(max).print()"
    text = STATEFUL.replace("numbers.key_by(lambda n: n % 3).reduce(max).print()", loop)
    file = program(text.replace("numbers = env", "# penstock: ignore-file[PS006]\nnumbers = env"))
    before = file.read_text()
    result = penstock("lint", "--once", "--fix", file)
    assert result.exit_code == 1
    assert result.stderr.count("not written: Keyed Reduce") == 2
    assert "its line is run more than once" in result.stderr
    assert result.stdout.count(" PS001 ") == 2
    assert file.read_text() == before


def test_hostile_names_are_harmless_in_a_terminal(linted, program):
    (finding, _), _ = linted(program(ENDLESS.replace(".print()", ".print().name('\\x1b[2J\\u202e\\nPS001')")))
    assert finding.isprintable()


def test_a_program_that_fails_is_told_of_as_by_explain(penstock, program):
    result = penstock("lint", program("env.execute()"))
    assert result.exit_code == 1
    assert "no operators" in result.stderr


def test_the_rules_are_listed_and_explained(linted):
    lines, status = linted("--rules")
    assert lines[0] == "PS001  An operator keeps state and has no uid."
    assert (any(line.startswith("PS101* ") for line in lines), status) == (True, 0)
    page, status = linted("--explain", "PS301")
    assert page[0] == "# PS301 needless-repartition"
    assert "# penstock: ignore[PS301]" in "\n".join(page)
    assert linted("--explain", "PS3")[1] == 2


def test_the_lock_file_beside_the_program_counts(linted, penstock, program):
    text = "numbers = env.from_collection([1]).key_by(lambda n: n, Types.INT())\n"
    text += "numbers.reduce(lambda a, b: a + b).uid('sums').set_max_parallelism(128).print(); env.execute()"
    file = program(text)
    assert penstock("lock", file).exit_code == 0
    assert linted(file)[1] == 0
    (finding, _), status = linted(program(text.replace("128", "256")))
    assert " PS102 'Keyed Reduce' has the max parallelism 256, and 128 in penstock.lock" in finding
    assert status == 1
    (file.parent / "penstock.lock").write_text("no lock")
    assert "penstock.lock" in penstock("lint", file).stderr
