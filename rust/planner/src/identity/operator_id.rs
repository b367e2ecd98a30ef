//! Pass 2: the OperatorID of every node that a source reaches.
//!
//! Semantics: Flink's `StreamGraphHasherV2` and `StreamGraphUserHashHasher`. What is computed here must never change: IDs
//! in existing savepoints depend on it. Golden records and an independent reference hold it.
//!
//! Breadth first from the sources, ascending by id. A node waits until all its inputs have an ID, unless it has a uid.
//! Cost: O(nodes + edges); a counter per node says how many inputs are missing, so that a polled node is never rescanned,
//! and uid collisions are found in a table instead of by comparing with all hashes.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::{HashMap, HashTable};

use super::verdicts::Verdicts;
use crate::dense::{Index, NodeIndex, all};
use crate::error::{PlanError, Result};
use crate::java::murmur3::{murmur3_128, murmur3_128_of_repeated};
use crate::stream_graph::StreamGraph;
use crate::work::cancel::checkpoint_at;

/// 16 bytes that name an operator across versions of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorId(pub [u8; 16]);

impl OperatorId {
    /// The ID of an operator with this uid.
    pub fn of_uid(uid: &str) -> Self {
        Self(murmur3_128(uid.as_bytes()))
    }

    /// The ID as 32 hex digits, without an allocation.
    pub fn hex(&self) -> Hex {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |at: usize| DIGITS[usize::from(if at.is_multiple_of(2) { self.0[at / 2] >> 4 } else { self.0[at / 2] & 15 })];
        Hex(std::array::from_fn(digit))
    }

    /// Flink compares IDs by their upper, then their lower half, as signed longs; the upper half is stored last.
    pub fn java_order(&self) -> (i64, i64) {
        let half = |range: std::ops::Range<usize>| i64::from_be_bytes(self.0[range].try_into().expect("eight bytes"));
        (half(8..16), half(0..8))
    }
}

/// An OperatorID as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hex([u8; 32]);

impl Hex {
    /// The 32 digits.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("hex digits are ASCII")
    }
}

impl AsRef<str> for Hex {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl std::fmt::Display for OperatorId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.hex().as_str())
    }
}

/// The IDs of a graph. Nodes that no source reaches, and nodes that wait for such a node, have none.
#[derive(Clone, Debug)]
pub struct OperatorIds {
    ids: Vec<OperatorId>,
    /// Which nodes have one, unless all have.
    assigned: Option<Vec<bool>>,
    taken_twice: bool,
}

impl OperatorIds {
    /// The ID of a node.
    #[inline]
    pub fn get(&self, node: NodeIndex) -> Option<OperatorId> {
        let assigned = self.assigned.as_ref().is_none_or(|assigned| assigned[node.get()]);
        assigned.then(|| self.ids[node.get()])
    }

    /// Hashes a graph.
    ///
    /// # Errors
    /// [`PlanError::DuplicateUid`], naming both operators.
    pub fn of(graph: &StreamGraph, verdicts: &Verdicts) -> Result<Self> {
        let mut walk = Walk::new(graph, verdicts);
        while let Some(node) = walk.queue.pop_front() {
            checkpoint_at(walk.hashed as usize);
            walk.visit(node)?;
        }
        let all_assigned = walk.hashed as u32 as usize == graph.node_count();
        let assigned = (!all_assigned).then(|| walk.state.iter().map(|state| state & ASSIGNED != 0).collect());
        Ok(Self { ids: walk.ids, assigned, taken_twice: walk.taken_twice })
    }

    /// The nodes in the order in which they get their IDs, whether or not uids collide. O(nodes + edges).
    ///
    /// # Errors
    /// Never: where nobody notes the owners of IDs, no uid is refused.
    pub fn order(graph: &StreamGraph) -> Result<Vec<NodeIndex>> {
        let verdicts = Verdicts::of(graph);
        let mut walk = Walk { owners: None, ..Walk::new(graph, &verdicts) };
        let mut order = Vec::with_capacity(graph.node_count());
        while let Some(node) = walk.queue.pop_front() {
            checkpoint_at(order.len());
            walk.visit(node)?;
            if walk.state[node.get()] & ASSIGNED != 0 {
                order.push(node);
            }
        }
        Ok(order)
    }

    /// Whether a generated ID equals an earlier one. A uid is compared with the IDs before it, a generated ID with none:
    /// the hash of a later position can equal that of a uid of the right four bytes.
    pub fn taken_twice(&self) -> bool {
        self.taken_twice
    }
}

/// In the state of a node: it stands in the queue, or has left it for good.
const QUEUED: u32 = 1 << 31;
/// It has its ID. The other bits count the inputs that have none yet.
const ASSIGNED: u32 = 1 << 30;
const MISSING: u32 = ASSIGNED - 1;

/// Who has which ID: nodes, found by the leading bytes of their IDs, which are as good as another hash of them.
struct Owners(HashTable<NodeIndex>);

impl Owners {
    /// The node with an ID.
    fn find(&self, ids: &[OperatorId], id: OperatorId) -> Option<NodeIndex> {
        self.0.find(leading(id), |owner| ids[owner.get()] == id).copied()
    }

    /// Enters a node; gives the one that has its ID already.
    #[inline(never)] // the walk of a graph without uids is shorter without it
    fn insert(&mut self, ids: &[OperatorId], node: NodeIndex) -> Option<NodeIndex> {
        let id = ids[node.get()];
        let twin = self.find(ids, id);
        if twin.is_none() {
            self.0.insert_unique(leading(id), node, |other| leading(ids[other.get()]));
        }
        twin
    }
}

fn leading(id: OperatorId) -> u64 {
    u64::from_le_bytes(id.0[..8].try_into().expect("eight bytes"))
}

struct Walk<'a> {
    graph: &'a StreamGraph,
    verdicts: &'a Verdicts,
    queue: VecDeque<NodeIndex>,
    /// Flags and counter of each node in one word, because an edge touches both of a node that is anywhere in memory.
    state: Vec<u32>,
    ids: Vec<OperatorId>,
    hashed: i32,
    /// Who has which ID; only kept when some node has a uid.
    owners: Option<Owners>,
    taken_twice: bool,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a StreamGraph, verdicts: &'a Verdicts) -> Self {
        let size = graph.node_count();
        let mut sources = graph.sources().to_vec();
        sources.sort_unstable_by_key(|&source| graph.nodes.id[source.get()]);
        let mut state: Vec<u32> = all(size).map(|node| graph.in_edges(node).len() as u32).collect();
        sources.iter().for_each(|source| state[source.get()] |= QUEUED);
        let has_uids = graph.nodes.uid.any(|uid| uid.is_some());
        Self {
            graph,
            verdicts,
            queue: sources.into(),
            state,
            ids: vec![OperatorId::default(); size],
            hashed: 0,
            owners: has_uids.then(|| Owners(HashTable::with_capacity(size))),
            taken_twice: false,
        }
    }

    fn visit(&mut self, node: NodeIndex) -> Result<()> {
        let id = match self.graph.nodes.uid.get(node.get()) {
            Some(uid) => self.claim_uid(node, self.graph.text(uid))?,
            None if self.state[node.get()] & MISSING > 0 => {
                self.state[node.get()] &= !QUEUED; // another input will bring it back
                return Ok(());
            }
            None => self.derive(node),
        };
        self.assign(node, id);
        Ok(())
    }

    #[inline(never)]
    fn claim_uid(&self, node: NodeIndex, uid: &str) -> Result<OperatorId> {
        let id = OperatorId::of_uid(uid);
        match self.owners.as_ref().and_then(|owners| owners.find(&self.ids, id)) {
            None => Ok(id),
            Some(first) => Err(PlanError::DuplicateUid {
                uid: uid.into(),
                first: self.graph.label(first),
                second: self.graph.label(node),
                id: id.to_string(),
            }),
        }
    }

    /// The ID of an operator without a uid: the hash of its position in the traversal, repeated once more for each chained
    /// output, folded with the IDs of all inputs.
    fn derive(&self, node: NodeIndex) -> OperatorId {
        let chained = self.graph.out_edges(node).iter().filter(|&&edge| self.verdicts.chained(edge)).count();
        let mut hash = murmur3_128_of_repeated(self.hashed, 1 + chained);
        for &edge in self.graph.in_edges(node) {
            let input = self.ids[self.graph.edges.source[edge.get()].get()];
            for (byte, other) in hash.iter_mut().zip(input.0) {
                *byte = byte.wrapping_mul(37) ^ other;
            }
        }
        OperatorId(hash)
    }

    fn assign(&mut self, node: NodeIndex, id: OperatorId) {
        self.ids[node.get()] = id;
        self.state[node.get()] |= ASSIGNED;
        self.hashed = self.hashed.wrapping_add(1);
        if let Some(owners) = &mut self.owners {
            self.taken_twice |= owners.insert(&self.ids, node).is_some();
        }
        for &edge in self.graph.out_edges(node) {
            let child = self.graph.edges.target[edge.get()];
            let state = &mut self.state[child.get()];
            let queued = *state & QUEUED != 0;
            *state = (*state - 1) | QUEUED;
            if !queued {
                self.queue.push_back(child);
            }
        }
    }
}

/// A user-defined hash as parsed: 16 bytes, or a length that is refused when its vertex is created.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserHash {
    /// A usable ID.
    Id(OperatorId),
    /// A wrong number of bytes.
    WrongLength(usize),
}

/// The uid hashes of a graph, ascending by node.
///
/// # Errors
/// [`PlanError::UserHashNotHex`] for any node, reached or not, as Flink parses them all.
pub fn user_hashes(graph: &StreamGraph) -> Result<Vec<(NodeIndex, UserHash)>> {
    let mut hashes = Vec::new();
    if !graph.nodes.user_hash.any(|hash| hash.is_some()) {
        return Ok(hashes);
    }
    for node in all::<NodeIndex>(graph.node_count()) {
        let Some(text) = graph.nodes.user_hash.get(node.get()).map(|hash| graph.text(hash)) else { continue };
        let bytes = parse_hex(text).ok_or_else(|| PlanError::UserHashNotHex { operator: graph.label(node), hash: text.into() })?;
        hashes.push((node, bytes.as_slice().try_into().map_or(UserHash::WrongLength(bytes.len()), |id| UserHash::Id(OperatorId(id)))));
    }
    Ok(hashes)
}

/// Pairs of characters as Java's `Integer.parseInt(pair, 16)` reads them (a sign is allowed); an odd last one is ignored.
fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let units: Vec<char> = text.chars().collect();
    units.chunks_exact(2).map(|pair| i32::from_str_radix(&pair.iter().collect::<String>(), 16).ok().map(|byte| byte as u8)).collect()
}

/// Parses 32 hex digits.
pub fn parse_id(text: &str) -> Option<OperatorId> {
    let plain = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    plain.then(|| parse_hex(text)).flatten()?.try_into().ok().map(OperatorId)
}

/// A table of further hashes by node id, as a caller gives it.
///
/// # Errors
/// [`PlanError::UnknownNode`] and [`PlanError::UserHashLength`].
pub fn parse_hash_table(graph: &StreamGraph, table: &BTreeMap<i32, String>) -> Result<HashMap<i32, OperatorId>> {
    let parse = |(&id, hash): (&i32, &String)| {
        let node = graph.find(id).ok_or_else(|| PlanError::UnknownNode { id, context: "a table of additional hashes".into() })?;
        let parsed = parse_id(hash).ok_or_else(|| PlanError::UserHashLength {
            operator: graph.label(node),
            hash: hash.clone(),
            bytes: hash.len() / 2,
        })?;
        Ok((id, parsed))
    };
    table.iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_graph::{NewNode, Partitioner, Role};
    use crate::test_graphs::{graph, node};

    fn ids(nodes: &[NewNode<'_>], edges: &[(i32, i32, Option<Partitioner>)]) -> Result<Vec<Option<String>>> {
        let graph = graph(nodes, edges);
        let ids = OperatorIds::of(&graph, &Verdicts::of(&graph))?;
        Ok(all(nodes.len()).map(|node| ids.get(node).map(|id| id.to_string())).collect())
    }

    #[test]
    fn names_ids_and_parallelism_do_not_enter() {
        let plain = ids(&[node(1, Role::Source), node(2, Role::Sink)], &[(1, 2, None)]);
        let renamed = [NewNode { name: "x", parallelism: 3, ..node(7, Role::Source) }, NewNode { parallelism: 3, ..node(9, Role::Sink) }];
        assert_eq!(plain, ids(&renamed, &[(7, 9, None)]));
        let alone = ids(&[node(1, Role::Source)], &[]).unwrap();
        assert_eq!(alone[0].as_deref(), Some("bc764cd8ddf7a0cff126f51c16239658"));
    }

    #[test]
    fn a_node_that_waits_for_an_unreached_input_has_no_id() {
        let nodes = [node(1, Role::Source), node(2, Role::Operator), node(3, Role::Operator)];
        let ids = ids(&nodes, &[(1, 3, None), (2, 3, None)]).unwrap();
        assert_eq!(ids.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    }

    #[test]
    fn an_order_leaves_out_what_waits_and_takes_a_uid_at_once() {
        let uid = NewNode { uid: Some("same"), ..node(2, Role::Operator) };
        let nodes = [node(4, Role::Source), node(3, Role::Operator), uid, node(1, Role::Source), node(5, Role::Operator)];
        let graph = graph(&nodes, &[(4, 3, None), (1, 2, None), (1, 3, None), (3, 2, None), (5, 5, None)]);
        let order: Vec<i32> = OperatorIds::order(&graph).unwrap().into_iter().map(|node| graph.node(node).id).collect();
        assert_eq!(order, [1, 4, 2, 3]);
    }

    #[test]
    fn a_uid_used_twice_names_both_operators() {
        let uid = |id, role| NewNode { uid: Some("same"), ..node(id, role) };
        let error = ids(&[uid(1, Role::Source), uid(2, Role::Sink)], &[(1, 2, None)]).unwrap_err();
        assert_eq!(error.operators(), ["Source-1", "Sink-2"]);
    }

    #[test]
    fn a_uid_can_be_met_by_a_later_position() {
        let uid = NewNode { uid: Some("\u{1}\0\0\0"), ..node(1, Role::Source) };
        let graph = graph(&[uid, node(2, Role::Source)], &[]);
        let ids = OperatorIds::of(&graph, &Verdicts::of(&graph)).unwrap();
        assert!(ids.taken_twice() && ids.get(NodeIndex(0)) == ids.get(NodeIndex(1)));
        let error = crate::job_graph::compile(std::sync::Arc::new(graph), Default::default()).unwrap_err();
        assert_eq!(error.operators(), ["Source-1", "Source-2"]);
    }

    #[test]
    fn hex_is_read_as_java_reads_it() {
        assert_eq!(parse_hex("0aF"), Some(vec![10]));
        assert_eq!(parse_hex("-1+f"), Some(vec![255, 15]));
        assert_eq!(parse_hex("zz"), None);
        assert_eq!(parse_id("897859f6655555855a890e51483ab5e6"), Some(OperatorId::of_uid("a")));
        assert_eq!(parse_id("-97859f6655555855a890e51483ab5e6"), None);
    }
}
