"""Random SPECs for the planner: graphs that the API would not make, and that the planner refuses, too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.generator.choices import Choices, DrawnChoices, SeededChoices

Spec = dict[str, Any]

NAMES = (
    "Map", "Filter", "Flat Map", "Keyed Aggregation", "Window(GlobalWindows(), CountTrigger)", "Calc(a > 1 && b < 2)",
    "", "back\\slash", "two\nlines", 'café "quoted" \'x\'', "日本語", "€ ½ ∑ α ⟨🦀⟩", "tab\tbell\x07", "<br/>&amp;",
)  # fmt: skip
UIDS = ("source", "a", "b", "sink", "", "ünïcödé", "日本語", "x" * 40)
PARTITIONERS = ("REBALANCE", "HASH", "RESCALE", "BROADCAST", "SHUFFLE", "GLOBAL", "CUSTOM")
EXCHANGE_MODES = (
    "ALL_EDGES_PIPELINED", "FORWARD_EDGES_PIPELINED", "POINTWISE_EDGES_PIPELINED", "ALL_EDGES_BLOCKING"
)  # fmt: skip
SCHEDULE_MODES = ("EAGER", "LAZY_FROM_SOURCES", "LAZY_FROM_SOURCES_WITH_BATCH_SLOT_REQUEST")
PARALLELISMS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 14, 16, 20, 24, 25, 30, 37)
INT_MAX = 2**31 - 1


@st.composite
def specs(draw: Callable[[st.SearchStrategy[Any]], Any], max_nodes: int = 40) -> Spec:
    """A strategy for SPECs of up to ``max_nodes`` nodes."""
    choices = DrawnChoices(draw)
    return make_spec(choices, choices.number(0, max_nodes))


def seeded_spec(seed: int, size: int) -> Spec:
    """The SPEC of one seed, with about ``size`` nodes."""
    return make_spec(SeededChoices(seed), size, name=f"seed_{seed}_{size}")


def make_spec(choices: Choices, size: int, name: str = "random") -> Spec:
    """One SPEC with ``size`` nodes (iteration heads and tails come on top)."""
    return _Maker(choices, size).make(name)


class _Maker:
    """One graph in the making: first its character (which features it uses at all), then nodes, then edges."""

    def __init__(self, choices: Choices, size: int) -> None:
        self._choices = choices
        self._size = size
        chance, pick = choices.chance, choices.pick
        self._one_region = not chance(25)
        self._mode = pick(EXCHANGE_MODES) if chance(20) else EXCHANGE_MODES[0]
        self._faulty = chance(20)  # may be refused; the rest of the graphs should be planned to the end
        self._parallelisms = [pick(PARALLELISMS) for _ in range(choices.number(1, 3))]
        self._last_parallelism = self._parallelisms[0]
        self._slot_groups = ["default", "g1", "g2"] if chance(30) else ["default"]
        self._null_group = self._faulty and chance(25)
        self._uids, self._user_hashes = chance(40), chance(25)
        self._timeouts = chance(20) and (self._faulty or self._mode == EXCHANGE_MODES[0])
        self._resources = pick(("none", "none", "all", "some"))
        self._weights, self._yielding, self._co_location = chance(30), chance(40), chance(10)
        self._unreached = chance(10)
        self._strict_chaining = chance(40)  # strategies other than the usual ones
        self._mostly_forward = chance(60)
        self._batch = chance(15)
        self._loops = chance(12) and (self._faulty or self._mode == EXCHANGE_MODES[0])
        self._unset_parallelism, self._odd_max_parallelism = chance(10), self._faulty and chance(25)
        self._back_edges, self._fed_sources = self._faulty and chance(15), chance(8)
        self._free_uids = choices.shuffled(UIDS)

    def make(self, name: str) -> Spec:
        nodes = self._nodes()
        iterations = self._iterations(nodes) if nodes and self._loops else []
        edges = self._edges(nodes, iterations)
        listed = self._choices.shuffled(nodes) if self._choices.chance(25) else nodes
        spec: Spec = {
            "name": name,
            "chaining_enabled": not self._choices.chance(10),
            "settings": self._settings(),
            "nodes": listed,
            "edges": self._choices.shuffled(edges) if self._choices.chance(25) else edges,
        }
        return {**spec, "iterations": iterations} if iterations else spec

    def _settings(self) -> Spec:
        chance = self._choices.chance
        settings: Spec = {"exchange_mode": self._mode, "all_vertices_in_same_slot_sharing_group": self._one_region}
        if chance(30):
            settings["job_name"] = self._choices.pick(NAMES)
        if chance(30):
            settings["schedule_mode"] = self._choices.pick(SCHEDULE_MODES)
        if chance(30):
            settings["checkpointing_enabled"] = True
            settings["force_checkpointing"] = not (self._faulty and chance(50))
            settings["checkpoint_interval"] = self._choices.pick((1000, 10, 11, 60_000, 2**40))
        return settings

    # --- nodes -----------------------------------------------------------------------------------------------------

    def _nodes(self) -> list[Spec]:
        return [self._node(index, id_) for index, id_ in enumerate(self._ids())]

    def _ids(self) -> list[int]:
        """Ids by one of several schemes: some of them crowd into one bucket of a hash table, or become trees there."""
        scheme, size = self._choices.number(0, 6), self._size
        if scheme == 1:
            return self._choices.shuffled(range(1, size + 1))
        if scheme == 2:
            return self._choices.shuffled(range(-size // 2, size - size // 2))
        if scheme == 3:
            return self._choices.shuffled(range(0, size * 16, 16))
        if scheme == 4:
            return self._choices.shuffled(range(-size * 512, size * 512, 1024))
        if scheme == 5:
            return self._choices.shuffled([(i << 16) | i for i in range(size)])
        if scheme == 6:
            return self._choices.shuffled([-(2**31), INT_MAX, *range(5, size * 7, 7)])[:size]
        return list(range(1, size + 1))

    def _node(self, index: int, id_: int) -> Spec:
        chance, pick = self._choices.chance, self._choices.pick
        kind = self._kind(index)
        node: Spec = {
            "id": id_,
            "name": {"source": "Source: ", "sink": "Sink: "}.get(kind, "") + pick(NAMES),
            "kind": kind,
            "uid": self._uid() if self._uids and chance(50) else None,
            "user_hash": self._user_hash(index) if self._user_hashes and chance(30) else None,
            "slot_sharing_group": pick(self._slot_groups),
            "co_location_group": pick(("c1", "c2")) if self._co_location and chance(25) else None,
            "parallelism": self._parallelism(),
            "max_parallelism": pick((-1, -1, -1, 128, 256, 200, 32768, INT_MAX)),
            "chaining_strategy": self._strategy(kind),
            "yielding": self._yielding and chance(30),
            "managed_memory_weight": pick((None, 0, 1, 2, 3, 7, 10, 100, 1_000_000)) if self._weights else None,
        }
        if node["slot_sharing_group"] == "default" and chance(20):
            del node["slot_sharing_group"]  # absent is the same as "default"
        elif self._null_group and chance(30):
            node["slot_sharing_group"] = None
        return self._with_rarities(node)

    def _with_rarities(self, node: Spec) -> Spec:
        chance, pick = self._choices.chance, self._choices.pick
        if self._unset_parallelism and chance(30):
            node["parallelism"] = pick((-1, 0, -1, -7))
        if self._odd_max_parallelism and chance(10):
            node["max_parallelism"] = pick((0, -2, 1, 3, 32769, 2**31 - 2))
        if self._timeouts and chance(50):
            node["buffer_timeout"] = pick((-1, 0, 10, 100, 5000))
        if self._resources == "all" or (self._resources == "some" and chance(50)):
            node["min_resources"], node["preferred_resources"] = self._resource(), self._resource()
        return node

    def _parallelism(self) -> int:
        """Mostly that of the node before, so that there is something to chain."""
        if self._choices.chance(25):
            self._last_parallelism = self._choices.pick(self._parallelisms)
        return self._last_parallelism

    def _kind(self, index: int) -> str:
        if index == 0 or self._choices.chance(10):
            return "source"
        return self._choices.pick(("operator", "operator", "operator", "sink", "two_input"))

    def _strategy(self, kind: str) -> str:
        if self._strict_chaining and self._choices.chance(40):
            return self._choices.pick(("ALWAYS", "HEAD", "NEVER"))
        return "HEAD" if kind == "source" else "ALWAYS"

    def _uid(self) -> str | None:
        """Each at most once, but for the rare duplicate."""
        if self._faulty and self._choices.chance(5):
            return self._choices.pick(UIDS)
        return self._free_uids.pop() if self._free_uids else None

    def _user_hash(self, index: int) -> str:
        whole = f"{index * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:032x}"
        if self._choices.chance(3):
            return whole + "0"  # an odd last digit is ignored
        if self._faulty and self._choices.chance(20):
            return self._choices.pick(("abcd", "", whole[:31], "zz" + whole[2:], "-1" + whole[2:]))
        return whole.upper() if self._choices.chance(20) else whole

    def _resource(self) -> Spec:
        pick = self._choices.pick
        return {
            "cpu": pick((0.5, 1.0, 2.0, 0.1, 0.3, 0.7)),
            "heap_mb": pick((64, 0, 100)),
            "off_heap_mb": pick((0, 10)),
            "managed_mb": pick((1, 0, 3, 7, 128)),
        }

    # --- iterations and edges --------------------------------------------------------------------------------------

    def _iterations(self, nodes: list[Spec]) -> list[Spec]:
        taken = {node["id"] for node in nodes}
        free = [id_ for id_ in range(-1, -200_000, -1) if id_ not in taken][:4]
        pairs = [(free[0], free[1]), (free[2], free[3])][: self._choices.number(1, 2)]
        return [
            {
                "loop_id": 9 + number,
                "source_id": head,
                "sink_id": tail,
                "parallelism": self._choices.pick(self._parallelisms),
                "max_parallelism": self._choices.pick((-1, 128, 37)),
                "timeout": self._choices.pick((0, 5000)),
                "slot_sharing_group": None if self._null_group else self._choices.pick(self._slot_groups),
            }
            for number, (head, tail) in enumerate(pairs)
        ]

    def _edges(self, nodes: list[Spec], iterations: list[Spec]) -> list[Spec]:
        edges: list[Spec] = []
        for index, node in enumerate(nodes):
            edges += self._inputs(nodes, index, node)
        targets = [node for node in nodes if node["kind"] != "source"]
        for loop in iterations if targets else []:
            head = {"id": loop["source_id"], "parallelism": loop["parallelism"], "buffer_timeout": 0}
            tail = {"id": loop["sink_id"], "parallelism": loop["parallelism"]}
            edges += [
                self._edge(head, self._choices.pick(targets), 0),
                self._edge(self._choices.pick(targets), tail, 0),
            ]
        if self._back_edges and targets:
            edges.append(self._edge(self._choices.pick(targets), self._choices.pick(targets), 0))
        return edges

    def _inputs(self, nodes: list[Spec], index: int, node: Spec) -> list[Spec]:
        """Edges into one node from nodes before it: none for a source, sometimes none for others (never reached)."""
        chance = self._choices.chance
        if node["kind"] == "source":
            # a source with a chained input, in separate regions, is where Flink itself is not deterministic
            if not (self._fed_sources and index and chance(50) and self._one_region):
                return []
        elif self._unreached and chance(5 if self._faulty or node["kind"] == "sink" else 0):
            return []
        feeders = [other for other in nodes[:index] if other["kind"] != "sink" or chance(5)]
        if not feeders:
            return []
        if node["kind"] == "two_input":
            return [self._edge(self._feeder(feeders), node, number) for number in (1, 2)]
        count = self._choices.pick((1, 1, 1, 1, 1, 2, 2, 3, 5)) if chance(40) else 1
        return [self._edge(self._feeder(feeders), node, 0) for _ in range(count)]

    def _feeder(self, feeders: list[Spec]) -> Spec:
        """Mostly a recent node, so that graphs get deep."""
        if self._choices.chance(60):
            return feeders[max(0, len(feeders) - 1 - self._choices.number(0, 2))]
        return self._choices.pick(feeders)

    def _edge(self, source: Spec, target: Spec, number: int) -> Spec:
        chance = self._choices.chance
        timeout_set = source.get("buffer_timeout", -1) != -1
        return {
            "source": source["id"],
            "target": target["id"],
            "partitioner": self._partitioner(source["parallelism"] == target["parallelism"]),
            "shuffle_mode": "BATCH"
            if self._batch and chance(30) and (not timeout_set or (self._faulty and chance(10)))
            else self._choices.pick(("UNDEFINED", "UNDEFINED", "UNDEFINED", "PIPELINED")),
            "input": number,
        }

    def _partitioner(self, same_parallelism: bool) -> str | None:
        if same_parallelism and self._choices.chance(20):
            return "FORWARD"
        if self._choices.chance(15 if self._mostly_forward else 60):
            return self._choices.pick(PARTITIONERS)
        return "FORWARD" if not same_parallelism and self._faulty and self._choices.chance(2) else None
