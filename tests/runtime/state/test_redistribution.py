"""Who gets what at another parallelism: what Flink hands out, line by line, and a slow model of its tables."""

from __future__ import annotations

import io
import json
from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.common.java.java_hash import hash_string
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.files import SNAPSHOT, AboutOperator, Header, StateReader, pack
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.redistribution import BROADCAST, SPLIT, UNION, in_order, shares
from penstock.runtime.state.sections import Section
from tests.effort import examples
from tests.golden.load import read_lines

KINDS = {"SPLIT_DISTRIBUTE": SPLIT, "UNION": UNION, "BROADCAST": BROADCAST}
OWN_RANGES = 4
"""Lines of keyed state of unchanged parallelism whose subtasks had other ranges than Flink gives: none here can have
them, as a range follows from the two numbers."""


@cache
def lines():
    records = [json.loads(line) for line in read_lines("redistribution.jsonl.gz")]
    assert len(records) == 438
    return records


def versions(line):
    return ["1.11", "2.3"] if line["flink"] == "both" else [line["flink"].removesuffix(".4").removesuffix(".0")]


def counts_of(subtask):
    """What a subtask of a line had."""
    handles = subtask or []
    return {(KINDS[mode], name): number for handle in handles for name, mode, number in handle["states"]}


def by_old_subtask(handles):
    return {(handle["from"], name): elements for handle in handles for name, elements in handle["states"].items()}


def check_operator_state(line, subtasks, result):
    old = list(map(counts_of, subtasks))
    for flink in versions(line):
        for subtask in range(line["new"]):
            got = shares(old, line["new"], subtask, flink=flink)
            by_place = {(share.subtask, share.place[1]): list(share.elements) for share in got}
            assert len(by_place) == len(got)
            assert by_place == by_old_subtask(result[subtask]), (line["name"], flink, subtask)
            assert [share.subtask for share in got] == sorted(share.subtask for share in got)


@pytest.mark.parametrize("kind", ["managed_operator", "raw_operator"])
def test_operator_state_goes_where_flink_hands_it(kind):
    of_kind = [line for line in lines() if line["kind"] == kind]
    assert len(of_kind) == {"managed_operator": 250, "raw_operator": 40}[kind]
    for line in of_kind:
        check_operator_state(line, line["subtasks"], line["result"])


def test_operator_state_goes_where_it_went_in_jobs_that_ran():
    executed = [line for line in lines() if line["kind"] == "executed"]
    assert len(executed) == 28
    for line in executed:
        for kind in ("managed_operator", "raw_operator"):
            check_operator_state(line, line[kind], line["assigned"][kind])


# --- through files --------------------------------------------------------------------------------------------------


def about(subtask, parallelism, groups=128):
    return AboutOperator("ab" * 16, "an operator", None, subtask, parallelism, groups)


def written(folder, number, line):
    """The series of state files of an old subtask of a job that ran: its operator state, and a value per key."""
    who, state = about(number, line["old"], line["max"]), OperatorState()
    for (kind, name), count in counts_of(line["managed_operator"][number]).items():
        if kind == BROADCAST:
            state.broadcast(name).update({"from": str(number), f"only {number}": "here"})
        else:
            state.list(name, union=kind == UNION).extend([number, element] for element in range(count))
    keyed = KeyedState(KeyHash(Types.INT()), line["max"])
    keyed.track()
    for key in range(3 * line["max"]):
        if line["managed_keyed"][number] is not None and keyed.group(key) in who.groups:
            keyed.table("by")[keyed.enter(key)] = number
    return save(folder, keyed, state, who, (), 1)


def test_jobs_find_what_those_of_flink_found(tmp_path):
    compared = Counter()
    for line in lines():
        if line["kind"] != "executed":
            continue
        folder = str(tmp_path / line["name"])
        chains = [written(folder, number, line) for number in range(line["old"])]
        for subtask, expected in enumerate(line["got"]):
            state, keyed = OperatorState(), KeyedState(KeyHash(Types.INT()), line["max"])
            load(folder, chains, keyed, state, about(subtask, line["new"], line["max"]), flink=versions(line)[0])
            for kind, lists in ((False, "lists"), (True, "unions")):
                for name, elements in expected[lists].items():
                    assert state.list(name, union=kind) == sorted(elements), (line["name"], subtask, name)
                    compared[lists] += len(elements)
            names = {
                name
                for subtask_state in line["managed_operator"]
                for kind, name in counts_of(subtask_state)
                if kind != BROADCAST
            }
            expected_names = set(expected["lists"]) | set(expected["unions"])
            assert not any(state.list(name, union=union) for name in names - expected_names for union in (False, True))
            for name, entries in expected["broadcasts"].items():
                check_broadcast(state.broadcast(name), entries)
                compared["broadcasts"] += len(entries)
            if "keys" in expected:
                at = [
                    [key, keyed.group(key), keyed.table("by").get(keyed.enter(key))] for key in range(3 * line["max"])
                ]
                assert [row for row in at if row[2] is not None] == expected["keys"]
                compared["keys"] += len(expected["keys"])
    assert min(compared.values()) > 20, compared
    assert len(compared) == 4


def check_broadcast(mine, theirs):
    """Which of two copies comes last hangs on the names of files in Flink; here it is that of the later subtask."""
    assert {key for key in mine if key != "from"} == {key for key in theirs if key != "from"}
    assert mine.get("from") == max((key.removeprefix("only ") for key in mine if key != "from"), default=None)


# --- keyed state ----------------------------------------------------------------------------------------------------


def sections_of(first_last, who):
    """A state file with a section per key group, and its reader."""
    first, last = first_last
    header = Header(SNAPSHOT, who, 1, None, None, (), (), 0, (), None)
    groups = [Section(group, group, b"x") for group in range(first, last + 1)]
    parts, _, _ = pack(header, groups, None)
    data = b"".join(parts)
    return StateReader("file", io.BytesIO(data), len(data), who)


def test_key_groups_go_where_flink_hands_them():
    skipped = compared = 0
    for line in lines():
        if line["kind"] == "executed":
            parts = [(line[kind], line["assigned"][kind]) for kind in ("managed_keyed", "raw_keyed")]
        elif line["kind"].endswith("_keyed"):
            parts = [(line["subtasks"], line["result"])]
        else:
            continue
        for subtasks, result in parts:
            old, new, groups = len(subtasks), line["new"], line["max"]
            standard = [
                [groups_of_one.start, groups_of_one.stop - 1]
                for groups_of_one in (about(i, old, groups).groups for i in range(old))
            ]
            if old == new and any(held not in (None, usual) for held, usual in zip(subtasks, standard, strict=True)):
                skipped += 1
                continue
            readers = [
                None if shares_of is None else sections_of(shares_of, about(number, old, groups))
                for number, shares_of in enumerate(subtasks)
            ]
            for subtask, expected in enumerate(result):
                share = about(subtask, new, groups).groups
                assert [share.start, share.stop - 1] == expected["range"]
                taken = {
                    (number, section.first)
                    for number, reader in enumerate(readers)
                    if reader is not None
                    for section in reader.sections(share)
                }
                theirs = {(old, group) for old, first, last in expected["handles"] for group in range(first, last + 1)}
                assert taken == {(old, group) for old, group in theirs if group in share}, (line["name"], subtask)
                compared += 1
    assert skipped == OWN_RANGES
    assert compared > 1_000


# --- a slow model ---------------------------------------------------------------------------------------------------


class Table:
    """A hash table as Java's: lists of names by index."""

    def __init__(self, width, newest_first):
        self.buckets, self.size, self.newest_first = [[] for _ in range(width)], 0, newest_first

    def add(self, name):
        if self.newest_first and self.size > len(self.buckets) * 3 // 4:
            self.grow()
        bucket = self.bucket(name)
        if name not in bucket:
            bucket.insert(0 if self.newest_first else len(bucket), name)
            self.size += 1
            if not self.newest_first and self.size > len(self.buckets) * 3 // 4:
                self.grow()

    def grow(self):
        names = list(self)
        self.buckets = [[] for _ in range(2 * len(self.buckets))]
        for name in names:
            self.bucket(name).append(name)

    def bucket(self, name):
        h = hash_string(name) & 0xFFFFFFFF
        return self.buckets[(h ^ h >> 16) % len(self.buckets)]

    def __iter__(self):
        return (name for bucket in self.buckets for name in bucket)


def order_by_model(old, kind):
    table = Table(16, newest_first=True)
    for counts in old:
        read = Table(1, newest_first=False)
        for _, name in counts:
            read.add(name)
        for name in read:
            if (kind, name) in counts:
                table.add(name)
    return [(kind, name) for name in table]


def dealt_by_model(old, parallelism):
    """Element by element: the elements of split lists that each subtask gets, as (old subtask, name, element)."""
    result, start = [[] for _ in range(parallelism)], 0
    for place in order_by_model(old, SPLIT):
        elements = [
            (number, place[1], i) for number, shares_of in enumerate(old) for i in range(shares_of.get(place, 0))
        ]
        blocks = [len(elements) // parallelism + (i < len(elements) % parallelism) for i in range(parallelism)]
        for j, size in enumerate(blocks):
            taken, elements = elements[:size], elements[size:]
            result[(start + j) % parallelism] += taken
        start = (start + sum(blocks)) % parallelism
    return result


NAMES = st.one_of(
    st.sampled_from(["Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa", "offsets", "状态", "😀"]), st.text(max_size=6)
)


@st.composite
def operators(draw):
    names = draw(st.dictionaries(NAMES, st.sampled_from([SPLIT, UNION, BROADCAST]), max_size=30))
    one = st.lists(st.sampled_from(sorted(names)), unique=True) if names else st.just([])
    return [
        {(names[n], n): 1 if names[n] == BROADCAST else draw(st.integers(0, 9)) for n in draw(one)}
        for _ in range(draw(st.integers(1, 6)))
    ]


@settings(max_examples=examples(300))
@given(operators(), st.integers(1, 8))
def test_a_slow_model_deals_out_the_same(old, parallelism):
    for kind in (SPLIT, UNION, BROADCAST):
        assert in_order(old, kind) == order_by_model(old, kind)
    if len(old) == parallelism:
        return
    for subtask, expected in enumerate(dealt_by_model(old, parallelism)):
        shares_of = [
            (share.subtask, share.place[1], element)
            for share in shares(old, parallelism, subtask)
            if share.place[0] == SPLIT
            for element in share.elements
        ]
        assert sorted(shares_of) == sorted(expected)


@settings(max_examples=examples(100))
@given(operators(), st.integers(1, 8))
def test_nothing_is_lost_and_nothing_is_there_twice(old, parallelism):
    got = [shares(old, parallelism, subtask) for subtask in range(parallelism)]
    lists = Counter(
        (s.subtask, s.place, e) for shares_of in got for s in shares_of if s.place[0] == SPLIT for e in s.elements
    )
    assert lists == Counter(
        (i, p, e) for i, shares_of in enumerate(old) for p, n in shares_of.items() if p[0] == SPLIT for e in range(n)
    )
    for shares_of in got:
        united = [(s.subtask, s.place) for s in shares_of if s.place[0] == UNION]
        assert united == [(i, place) for i, counts in enumerate(old) for place in counts if place[0] == UNION]
        maps = [s.place for s in shares_of if s.place[0] == BROADCAST]
        assert len(maps) == len(set(maps))


def test_an_empty_map_counts_as_one():
    parts = [OperatorState(), OperatorState()]
    parts[1].broadcast("rules")["a"] = 1
    parts[0].broadcast("rules")
    for flink in ("1.11", "2.3"):
        again = OperatorState()
        again.restore([part.changed() for part in parts], 2, 0, flink=flink)
        assert again.broadcast("rules") == {}
        assert not again.changed()


def test_who_had_no_map_gets_one_by_the_rules_of_2_3_only():
    had = OperatorState()
    had.broadcast("rules")["a"] = 1
    for flink, expected in (("1.11", {}), ("2.3", {"a": 1})):
        again = OperatorState()
        again.restore([{}, had.changed()], 2, 0, flink=flink)
        assert again.broadcast("rules") == expected
