"""State files that say what their classes and versions were: what was written once is read by classes of later."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

from penstock.common import Types
from penstock.datastream import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.runtime.checkpoint.state_series import load, save
from penstock.runtime.config.tasks import StateFile
from penstock.runtime.keys.key_types import KeyHash
from penstock.runtime.state.evolution import settle_broadcast
from penstock.runtime.state.files import AboutOperator
from penstock.runtime.state.keyed import KeyedState
from penstock.runtime.state.operator_state import OperatorState
from penstock.runtime.state.store import handle_of
from tests.runtime.checkpoint import shop

ABOUT = AboutOperator("c0ffee" + "1" * 26, "shop", None, 0, 1, 128)
GOLDEN = Path(__file__).parent / "golden" / "classes_and_versions"
KEYS = [f"k{number}" for number in range(5)]


def fresh():
    keyed = KeyedState(KeyHash(Types.STRING()), 128)
    keyed.track()
    return keyed


def write_golden() -> None:
    """Written once, by the classes that there were then, and never again."""
    GOLDEN.mkdir(parents=True)
    keyed, state = fresh(), OperatorState()
    settle_broadcast(state, [MapStateDescriptor("rules", Types.STRING(), Types.INT())])
    state.broadcast("rules")["a"] = 1
    baskets = handle_of(keyed, ListStateDescriptor("baskets").migrated_by(str, version=3))
    for number, key in enumerate(KEYS):
        keyed.enter(key)
        baskets.add(shop.Basket(number, shop.Colour.GREEN))
        keyed.event_timers.add(number, keyed.slot, key, shop.Moved(shop.Point(number, -number)))
    chain = save(str(GOLDEN), keyed, state, ABOUT, (), 1)
    total = handle_of(keyed, ValueStateDescriptor("total", Types.INT()))
    keyed.enter(KEYS[0])
    total.update(7)
    chain = save(str(GOLDEN), keyed, state, ABOUT, chain, 2)
    assert [file.kind for file in chain] == ["snapshot", "log"]
    (GOLDEN / "chain.json").write_text(json.dumps([dataclasses.asdict(file) for file in chain], indent=1) + "\n")


def test_files_with_classes_and_versions_stay_readable():
    chain = tuple(StateFile(**line) for line in json.loads((GOLDEN / "chain.json").read_text()))
    keyed, state = fresh(), OperatorState()
    load(str(GOLDEN), [chain], keyed, state, ABOUT)
    settle_broadcast(state, [MapStateDescriptor("rules", Types.STRING(), Types.DOUBLE())])
    assert repr(state.broadcast("rules")) == "{'a': 1.0}"
    baskets = handle_of(keyed, ListStateDescriptor("baskets").migrated_by(str, version=3))
    total = handle_of(keyed, ValueStateDescriptor("total", Types.DOUBLE()))
    for number, key in enumerate(KEYS):
        keyed.enter(key)
        assert list(baskets.get()) == [shop.Basket([], shop.Colour.GREEN, number)]
        assert repr(total.value()) == ("None" if number else "7.0")
    namespaces = sorted((timer.time, timer.namespace) for timer in keyed.event_timers)
    assert namespaces == [(number, shop.Arrived(shop.Point(-number, number, 5))) for number in range(5)]
    assert keyed.rewrite
