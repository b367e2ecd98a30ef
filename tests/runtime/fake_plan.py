"""A planner small enough for tests: chains by Flink's main rules, without IDs that mean anything."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace as View

from penstock.runtime.keygroups import default_max_parallelism


class FakeStreamGraph:
    def __init__(self, nodes, edges, chaining):
        self.nodes = [View(**n, in_edges=[], out_edges=[]) for n in nodes]
        self._by_id = {n.id: n for n in self.nodes}
        self.edges = []
        for index, e in enumerate(edges):
            source, target = self._by_id[e["source"]], self._by_id[e["target"]]
            default = "FORWARD" if source.parallelism == target.parallelism else "REBALANCE"
            self.edges.append(
                View(
                    index=index,
                    source=source.id,
                    target=target.id,
                    partitioner=e["partitioner"] or default,
                    type_number=0,
                    side_output=e["tag"],
                    partition_node=e.get("partition_node"),
                )
            )
            source.out_edges.append(index)
            target.in_edges.append(index)
        self._chaining = chaining

    def operator_ids(self):
        return {n.id: hashlib.md5((n.uid or str(n.id)).encode()).hexdigest() for n in self.nodes}

    def _chained(self, edge):
        source, target = self._by_id[edge.source], self._by_id[edge.target]
        return (
            self._chaining
            and edge.partitioner == "FORWARD"
            and source.parallelism == target.parallelism
            and len(target.in_edges) == 1
            and target.chaining_strategy == "ALWAYS"
            and source.chaining_strategy in ("ALWAYS", "HEAD")
        )

    def job_graph(self):
        heads = [n for n in self.nodes if not (n.in_edges and self._chained(self.edges[n.in_edges[0]]))]
        vertices, vertex_of = [], {}
        for head in heads:
            chain, stack = [], [head.id]
            while stack:
                node = self._by_id[stack.pop()]
                vertex_of[node.id] = len(vertices)
                chained = [e for e in node.out_edges if self._chained(self.edges[e])]
                chain.append(
                    View(
                        node=node.id,
                        name=node.name,
                        chained_outputs=chained,
                        non_chained_outputs=[e for e in node.out_edges if e not in chained],
                    )
                )
                stack += [self.edges[e].target for e in reversed(chained)]
            vertices.append(
                View(
                    index=len(vertices),
                    id=hashlib.md5(str(head.id).encode()).hexdigest(),
                    name=" -> ".join(link.name for link in chain),
                    invokable="OneInputStreamTask",
                    parallelism=head.parallelism,
                    max_parallelism=head.max_parallelism,
                    chain=chain,
                    in_edges=list(head.in_edges),
                )
            )
        for vertex in vertices:
            vertex.inputs = [View(source=vertex_of[self.edges[e].source]) for e in vertex.in_edges]
        return FakeJobGraph(vertices)


class FakeJobGraph:
    def __init__(self, vertices):
        self.vertices = vertices
        done, order = set(), []
        while len(order) < len(vertices):
            for v in vertices:
                if v.index not in done and all(e.source in done for e in v.inputs):
                    done.add(v.index)
                    order.append(v.index)
        self.topological_order = order

    def execution_graph(self):
        return View(
            vertices=[
                View(
                    job_vertex=v.index,
                    parallelism=v.parallelism,
                    max_parallelism=v.max_parallelism
                    if v.max_parallelism > 0
                    else default_max_parallelism(v.parallelism),
                )
                for v in self.vertices
            ]
        )
