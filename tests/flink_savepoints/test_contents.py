"""What people see of savepoints: contents, differences, damages, and where IDs come from."""

from __future__ import annotations

import shutil
from pathlib import Path

from penstock.flink import plan_of, read_savepoint
from penstock.flink.contents import content_of, differences, verify
from penstock.flink.cursor import Cursor
from penstock.flink.headers import read_keyed_header
from penstock.flink.snapshots import stands_for
from penstock.flink.uids import Search
from tests.flink_savepoints.golden import place, spec, unpacked

COUNT = "b71731f1c0df9c3076c4a455334d0ad6"


def operators(release: str, name: str):
    return {
        operator.name or operator.operator_id: operator
        for operator in content_of(read_savepoint(place(release, name))).operators
    }


def states(release: str, name: str, operator: str):
    return {
        state.name: (state.kind, state.types, state.elements) for state in operators(release, name)[operator].states
    }


def test_states_with_kinds_and_types() -> None:
    assert states("2.3.0", "list_a", "lists") == {
        "split": ("list", "Tuple2<String, Int>", 6),
        "union": ("union list", "Long", 4),
    }
    assert states("2.3.0", "broadcast_b", "apply") == {
        "limits": ("broadcast", "Int -> Long", None),
        "rules": ("broadcast", "String -> Int", None),
    }
    assert states("1.11.4", "ttl_a", "759fa9f1f4c4cba733f7d0f7fad927e8")["fresh"] == ("value", "Ttl<Long, Int>", None)
    window = states("1.11.4", "windows_a", "06873195f6bbbc0221fab1aa6e5c496f")
    assert window["merging-window-set"] == ("list", "List<Tuple2<TimeWindow, TimeWindow>>", None)
    assert window["_timer_state/event_window-timers"][:2] == ("timers", "Timer<String, TimeWindow>")


def test_keys_and_key_groups() -> None:
    counted = operators("2.3.0", "f_base")["count"]
    assert (counted.key, counted.key_groups, counted.max_parallelism) == ("String", 10, 128)
    assert operators("1.11.4", "f_base")[COUNT].key_groups is None  # every group has an entry there
    assert operators("2.3.0", "finished_a")["Source: short"].ended == 2


def test_differences_by_id() -> None:
    one, other = (content_of(read_savepoint(place("2.3.0", name))) for name in ("f_base", "f_two"))
    (added,) = differences(one, other)
    assert (added.change, added.name, added.after) == ("added", "second (uid second)", "950 bytes")
    renamed = content_of(read_savepoint(place("2.3.0", "f_state_renamed")))
    changes = {(difference.what, difference.change) for difference in differences(one, renamed)}
    assert {("state", "count: removed")} < changes
    assert not differences(one, one)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    savepoint = read_savepoint(place("2.3.0", "files_a"))
    assert verify(savepoint) == ([], 4)
    copied = tmp_path / "copy"
    shutil.copytree(unpacked() / "2.3.0" / "files_a", copied)
    first, second, *_ = sorted(path for path in copied.iterdir() if not path.name.startswith("_"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:50])
    problems, looked = verify(read_savepoint(str(copied)))
    assert looked == 4
    assert f"{first} is not there; 192 were written" in problems
    assert f"{second} has 50 bytes; 192 were written" in problems
    assert any("damaged" in problem for problem in problems)
    assert content_of(read_savepoint(str(copied))).missing == (str(first),)


def test_an_unknown_serializer_ends_a_header_and_keeps_the_names_before() -> None:
    """A header of two states; the second one's serializer becomes a class of somebody else."""
    savepoint = read_savepoint(place("2.3.0", "co_a"))
    (operator,) = (operator for operator in savepoint.operators if operator.name == "join")
    data = savepoint.place.first_bytes(operator.subtasks[0].managed_keyed[0].delegate) or b""
    whole = read_keyed_header(Cursor(data, "state"))
    assert len(whole.states) > 2
    known, other = b"typeutils.base.ListSerializerSnapshot", b"typeutils.base.ListSerializerSnapshoo"
    at = data.index(known)
    broken = data[:at] + other + data[at + len(known) :].replace((911108).to_bytes(4, "big"), bytes(4), 1)
    cut = read_keyed_header(Cursor(broken, "state"))
    assert cut.length is None
    assert "ListSerializerSnapshoo" in cut.stopped
    assert [state.name for state in cut.states] == [state.name for state in whole.states[: len(cut.states)]]
    assert 0 < len(cut.states) < len(whole.states)
    assert cut.key_serializer == whole.key_serializer


def test_which_serializer_a_snapshot_stands_for() -> None:
    assert stands_for("a.IntSerializer$IntSerializerSnapshot") == "a.IntSerializer"
    assert stands_for("a.TimeWindow$Serializer$TimeWindowSerializerSnapshot") == "a.TimeWindow$Serializer"
    assert stands_for("a.TtlStateFactory$TtlSerializerSnapshot") == "a.TtlStateFactory$TtlSerializer"


def test_ids_are_found_again(tmp_path: Path) -> None:
    unknown, out = "0" * 32, "4d648856f35492026b8f75b0a6ec795e"
    search = Search((COUNT, out, unknown))
    search.in_program(plan_of(spec("2.3.0", "f_base"), "2.3"), "the program")
    for release, where in (("2.3.0", "the new one"), ("1.11.4", "the old one")):
        operators = read_savepoint(place(release, "f_base")).operators
        search.in_operators(((state.operator_id, state.name, state.uid) for state in operators), where)
    search.in_words(["other\n", " count \n"], "words")
    assert [(origin.by, origin.uid, origin.operator) for origin in search.origins[COUNT]] == [
        ("uid", "count", "count"),
        ("savepoint", "count", "count"),
        ("savepoint", None, None),
        ("word", "count", None),
    ]
    assert list(search.lines())[-1] == f"{unknown}  not found"
    pinned = Search(("20ba6b65f97481d5570070de90e4e791",))
    pinned.in_program(plan_of(spec("2.3.0", "f_pinned_uid"), "2.3"), "the program")
    assert [origin.by for origin in pinned.origins[pinned.wanted[0]]] == ["uid hash"]
