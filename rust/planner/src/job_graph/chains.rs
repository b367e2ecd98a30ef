//! Pass 3: chains, and the connections between them, in the order in which Flink's recursion makes them.
//!
//! Semantics: `StreamingJobGraphGenerator.createChain`. From each source, depth first: chainable outputs, then the others
//! (each the head of a chain of its own), then the operator itself; at a head, its vertex, then its connections. Vertices
//! therefore start downstream and operators of a vertex end with its head.
//!
//! ```text
//!   1 ──▶ 2 ──▶ 3        1 ──▶ 2 chained, 2 ══▶ 3 hashed        vertices: [3], [2, 1]
//! ```
//!
//! Cost: O(nodes + edges) time and space. The recursion is a stack of frames; operators and edges of the chains under way
//! stand in two more stacks, a vertex owning the top segment when it is finished, so nothing is copied upward.

use hashbrown::HashMap;

use super::exchange::ResultType;
use crate::dense::{Csr, EdgeIndex, Index, JobEdgeIndex, NodeIndex, VertexIndex};
use crate::error::{PlanError, Result};
use crate::identity::{OperatorId, OperatorIds, UserHash, Verdicts};
use crate::profile::Profile;
use crate::stream_graph::StreamGraph;
use crate::work::cancel::checkpoint_at;

/// A chain: its head and its rows of the operator table.
#[derive(Clone, Copy, Debug)]
pub struct Chain {
    /// First operator.
    pub head: NodeIndex,
    /// First row of [`Chains::operators`].
    pub first_operator: u32,
    /// Row behind the last; the last is the head.
    pub end_operator: u32,
}

/// An operator in a chain.
#[derive(Clone, Copy, Debug)]
pub struct ChainedNode {
    /// Which node.
    pub node: NodeIndex,
    /// Distance from the head.
    pub depth: u32,
}

/// An edge between two chains.
#[derive(Clone, Copy, Debug)]
pub struct Connection {
    /// The edge of the program.
    pub edge: EdgeIndex,
    /// Chain it leaves.
    pub source: VertexIndex,
    /// Chain it enters.
    pub target: VertexIndex,
    /// When its records may be read.
    pub result_type: ResultType,
}

/// The result of the pass.
#[derive(Clone, Debug)]
pub struct Chains {
    /// In order of creation.
    pub chains: Vec<Chain>,
    /// In order of creation; one segment per chain.
    pub operators: Vec<ChainedNode>,
    /// In the order in which they were connected.
    pub connections: Vec<Connection>,
}

impl Chains {
    /// The connections into each chain, in the order in which they were connected.
    pub fn inputs(&self) -> Csr<VertexIndex, JobEdgeIndex> {
        Csr::group(self.chains.len(), self.connections.iter().enumerate().map(|(at, edge)| (edge.target, JobEdgeIndex::new(at))))
    }
}

const UNBUILT: u32 = u32::MAX;
const IN_PROGRESS: u32 = u32::MAX - 1;

struct Frame {
    node: NodeIndex,
    depth: u32,
    cursor: u32,
    chained_done: bool,
    /// For heads: where their segments start in the two stacks.
    segment: Option<(u32, u32)>,
}

struct Walk<'a> {
    graph: &'a StreamGraph,
    verdicts: &'a Verdicts,
    ids: &'a OperatorIds,
    user_hashes: &'a [(NodeIndex, UserHash)],
    profile: Profile,
    /// What was wrong with an edge, where edges are connected after all vertices are made.
    late: Option<PlanError>,
    frames: Vec<Frame>,
    open_operators: Vec<ChainedNode>,
    open_edges: Vec<EdgeIndex>,
    vertex_of_head: Vec<u32>,
    /// Only kept when some ID was taken twice.
    heads_by_id: Option<HashMap<OperatorId, NodeIndex>>,
    result: Chains,
}

/// Builds all chains that sources reach.
///
/// # Errors
/// In the order in which Flink meets them: [`PlanError::UnreachedInput`], [`PlanError::UserHashLength`],
/// [`PlanError::EmptyText`], [`PlanError::DuplicateVertexId`], [`PlanError::FedSource`], [`PlanError::BlockingTimeout`],
/// [`PlanError::Cycle`].
pub fn build(
    graph: &StreamGraph,
    verdicts: &Verdicts,
    ids: &OperatorIds,
    user_hashes: &[(NodeIndex, UserHash)],
    profile: Profile,
) -> Result<Chains> {
    let mut walk = Walk {
        graph,
        verdicts,
        ids,
        user_hashes,
        profile,
        late: None,
        frames: Vec::new(),
        open_operators: Vec::new(),
        open_edges: Vec::new(),
        vertex_of_head: vec![UNBUILT; graph.node_count()],
        heads_by_id: ids.taken_twice().then(HashMap::new),
        result: Chains {
            chains: Vec::new(),
            operators: Vec::with_capacity(graph.node_count()),
            connections: Vec::with_capacity(graph.edge_count()),
        },
    };
    for source in sources(graph, profile) {
        walk.enter_head(source)?;
        walk.run()?;
    }
    walk.late.map_or(Ok(walk.result), Err)
}

/// The order in which chains are started.
fn sources(graph: &StreamGraph, profile: Profile) -> Vec<NodeIndex> {
    let mut sources = graph.sources().to_vec();
    if !profile.hash_ordered() {
        sources.sort_unstable_by_key(|&source| graph.nodes.id[source.get()]);
    }
    sources
}

impl Walk<'_> {
    fn run(&mut self) -> Result<()> {
        while let Some(frame) = self.frames.last_mut() {
            checkpoint_at(self.result.operators.len());
            let (node, depth) = (frame.node, frame.depth);
            let edges = self.graph.out_edges(node);
            let wanted = !frame.chained_done;
            let rest = &edges[frame.cursor as usize..];
            let found = rest.iter().position(|&edge| self.verdicts.chained(edge) == wanted);
            match found {
                Some(skipped) => {
                    let edge = rest[skipped];
                    frame.cursor += skipped as u32 + 1;
                    self.follow(edge, wanted, depth)?;
                }
                None if wanted => (frame.chained_done, frame.cursor) = (true, 0),
                None => self.finish()?,
            }
        }
        Ok(())
    }

    fn follow(&mut self, edge: EdgeIndex, chained: bool, depth: u32) -> Result<()> {
        let target = self.graph.edges.target[edge.get()];
        if chained {
            self.frames.push(Frame { node: target, depth: depth + 1, cursor: 0, chained_done: false, segment: None });
            return Ok(());
        }
        self.open_edges.push(edge);
        self.enter_head(target)
    }

    fn enter_head(&mut self, head: NodeIndex) -> Result<()> {
        match self.vertex_of_head[head.get()] {
            UNBUILT => {}
            IN_PROGRESS => return Err(self.cycle(head)),
            _ => return Ok(()),
        }
        self.vertex_of_head[head.get()] = IN_PROGRESS;
        let segment = Some((self.open_operators.len() as u32, self.open_edges.len() as u32));
        self.frames.push(Frame { node: head, depth: 0, cursor: 0, chained_done: false, segment });
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let Frame { node, depth, segment, .. } = self.frames.pop().expect("run found a frame");
        if self.ids.get(node).is_none() {
            return Err(self.unreached(node));
        }
        self.open_operators.push(ChainedNode { node, depth });
        match segment {
            Some((operators, edges)) => self.create_vertex(node, operators as usize, edges as usize),
            None => self.check_inputs(node),
        }
    }

    fn create_vertex(&mut self, head: NodeIndex, operators: usize, edges: usize) -> Result<()> {
        for chained in &self.open_operators[operators..] {
            self.check_user_hash(chained.node)?;
            self.check_texts(chained.node)?;
        }
        self.check_vertex_id(head)?;
        self.check_inputs(head)?;
        let vertex = VertexIndex::new(self.result.chains.len());
        let first_operator = self.result.operators.len() as u32;
        self.result.operators.extend(self.open_operators.drain(operators..));
        self.result.chains.push(Chain { head, first_operator, end_operator: self.result.operators.len() as u32 });
        self.vertex_of_head[head.get()] = vertex.0;
        for at in edges..self.open_edges.len() {
            self.connect(vertex, self.open_edges[at])?;
        }
        self.open_edges.truncate(edges);
        Ok(())
    }

    fn check_user_hash(&self, node: NodeIndex) -> Result<()> {
        let Ok(at) = self.user_hashes.binary_search_by_key(&node, |(node, _)| *node) else { return Ok(()) };
        match self.user_hashes[at].1 {
            UserHash::Id(_) => Ok(()),
            UserHash::WrongLength(bytes) => {
                let hash = self.graph.node(node).user_hash.map_or("", |hash| self.graph.text(hash)).into();
                Err(PlanError::UserHashLength { operator: self.graph.label(node), hash, bytes })
            }
        }
    }

    fn check_texts(&self, node: NodeIndex) -> Result<()> {
        if self.profile.allows_empty_texts() {
            return Ok(());
        }
        let uid = self.graph.nodes.uid.get(node.get()).map(|uid| self.graph.text(uid));
        let field = match (self.graph.name(node), uid) {
            ("", _) => "name",
            (_, Some("")) => "uid",
            _ => return Ok(()),
        };
        Err(PlanError::EmptyText { operator: self.graph.label(node), field, flink: self.profile.as_str() })
    }

    /// A source has no serializer for an input.
    fn check_inputs(&self, node: NodeIndex) -> Result<()> {
        if self.profile.allows_fed_sources() || !self.graph.nodes.role[node.get()].is_source() {
            return Ok(());
        }
        let Some(&edge) = self.graph.in_edges(node).first() else { return Ok(()) };
        let input = self.graph.label(self.graph.edge(edge).source);
        Err(PlanError::FedSource { operator: self.graph.label(node), input, flink: self.profile.as_str() })
    }

    /// Two vertices with one ID; possible only in a way that the pass before has noticed.
    fn check_vertex_id(&mut self, head: NodeIndex) -> Result<()> {
        let (Some(heads), Some(id)) = (&mut self.heads_by_id, self.ids.get(head)) else { return Ok(()) };
        let twin = *heads.entry(id).or_insert(head);
        if twin == head {
            return Ok(());
        }
        let (first, second) = (self.graph.label(twin), self.graph.label(head));
        Err(PlanError::DuplicateVertexId { id: id.to_string(), first, second })
    }

    fn connect(&mut self, source: VertexIndex, edge: EdgeIndex) -> Result<()> {
        let result_type = ResultType::of_edge(self.graph, edge);
        let timeout = self.graph.edges.buffer_timeout.get(edge.get());
        if !result_type.is_pipelined() && timeout != -1 {
            let ends = self.graph.edge(edge);
            let (source, target) = (self.graph.label(ends.source), self.graph.label(ends.target));
            let error = PlanError::BlockingTimeout { source, target, timeout };
            if self.profile.connects_at_once() {
                return Err(error);
            }
            self.late.get_or_insert(error);
        }
        let target = VertexIndex(self.vertex_of_head[self.graph.edges.target[edge.get()].get()]);
        self.result.connections.push(Connection { edge, source, target, result_type });
        Ok(())
    }

    fn cycle(&self, head: NodeIndex) -> PlanError {
        let start = self.frames.iter().rposition(|frame| frame.segment.is_some() && frame.node == head).unwrap_or(0);
        let operators: Vec<String> = self.frames[start..].iter().map(|frame| self.graph.label(frame.node)).collect();
        let mut shown: Vec<&str> = operators.iter().take(12).map(String::as_str).collect();
        if operators.len() > shown.len() {
            shown.push("...");
        }
        let path = format!("{} -> {}", shown.join(" -> "), self.graph.label(head));
        PlanError::Cycle { length: operators.len(), operators, path }
    }

    fn unreached(&self, node: NodeIndex) -> PlanError {
        let inputs = self.graph.in_edges(node).iter().map(|&edge| self.graph.edge(edge).source);
        let missing = inputs.into_iter().find(|&input| self.ids.get(input).is_none()).unwrap_or(node);
        PlanError::UnreachedInput { operator: self.graph.label(node), waits_for: self.graph.label(missing), profile: self.profile }
    }
}

#[cfg(test)]
mod tests {
    use crate::dense::{VertexIndex, all};
    use crate::error::PlanError;
    use crate::job_graph::{JobOptions, compile};
    use crate::stream_graph::{NewNode, Partitioner, Role};
    use crate::test_graphs::{graph, job, node};

    #[test]
    fn vertices_start_downstream_and_end_with_their_head() {
        let nodes = [node(1, Role::Source), node(2, Role::Operator), node(3, Role::Sink)];
        let job = job(graph(&nodes, &[(1, 2, None), (2, 3, Some(Partitioner::Hash))]));
        let names: Vec<&str> = all(2).map(|vertex| job.name(vertex)).collect();
        assert_eq!(names, ["Sink", "Source -> Op"]);
        let operators: Vec<i32> = job.operators(VertexIndex(1)).iter().map(|row| job.stream_graph().node(row.node).id).collect();
        assert_eq!(operators, [2, 1]);
        assert_eq!(job.topological_order(), [VertexIndex(1), VertexIndex(0)]);
    }

    #[test]
    fn branches_stand_in_brackets() {
        let nodes = [node(1, Role::Source), node(2, Role::Operator), node(3, Role::Sink), node(4, Role::Sink)];
        let job = job(graph(&nodes, &[(1, 2, None), (1, 3, None), (2, 4, None)]));
        assert_eq!(job.name(VertexIndex(0)), "Source -> (Op -> Sink, Sink)");
        let depths: Vec<u32> = job.walk(VertexIndex(0)).map(|(_, depth, _)| depth).collect();
        assert_eq!(depths, [0, 1, 2, 1]);
    }

    #[test]
    fn a_cycle_names_its_operators() {
        let uid = |id, uid| NewNode { uid: Some(uid), ..node(id, Role::Operator) };
        let edges = [(1, 2, None), (2, 3, Some(Partitioner::Rebalance)), (3, 2, None)];
        let graph = graph(&[node(1, Role::Source), uid(2, "a"), uid(3, "b")], &edges);
        let error = compile(std::sync::Arc::new(graph), JobOptions::default()).unwrap_err();
        assert!(matches!(&error, PlanError::Cycle { length: 2, .. }), "{error}");
        assert_eq!(error.operators(), ["Op-2", "Op-3"]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let nodes: Vec<_> = (0..100_000).map(|id| node(id, if id == 0 { Role::Source } else { Role::Operator })).collect();
        let edges: Vec<_> = (1..100_000).map(|id| (id - 1, id, None)).collect();
        let plan = move || job(graph(&nodes, &edges)).vertex_count();
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(plan).unwrap();
        assert_eq!(thread.join().unwrap(), 1);
    }
}
