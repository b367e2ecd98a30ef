//! Pass 6: slot sharing and co-location groups.
//!
//! Semantics: `StreamingJobGraphGenerator.setSlotSharingAndCoLocation`. "default" is one group for all, or one per
//! pipelined region; other names share by name; null shares with nobody and is refused at the end. Cost: O(V + E α(V)),
//! and O(V log V) to order the members of a group as Flink's TreeSet of vertex ids does.

use hashbrown::HashMap;

use super::chains::Chains;
use crate::dense::{Bucket, CoLocationIndex, Column, Csr, Index, NameId, SlotGroupIndex, UnionFind, VertexIndex, all};
use crate::error::{PlanError, Result};
use crate::identity::{OperatorId, OperatorIds};
use crate::profile::Profile;
use crate::stream_graph::{ResourceSpec, Resources, StreamGraph};

/// Who may share a slot with whom.
#[derive(Clone, Debug)]
pub struct SlotSharing {
    /// The group of each vertex; numbered by first appearance among the vertices.
    pub group_of: Vec<SlotGroupIndex>,
    /// Members of each group, ordered by vertex id as Java compares it.
    pub members: Csr<SlotGroupIndex, VertexIndex>,
    /// Sum of the members' minimum resources; `None` is UNKNOWN.
    pub resources: Vec<Option<ResourceSpec>>,
    /// The co-location group of each vertex.
    pub co_location_of: Column<Option<CoLocationIndex>>,
    /// Members of each co-location group, in the order in which Flink adds them.
    pub co_located: Csr<CoLocationIndex, VertexIndex>,
}

/// Where the vertices stand before groups are numbered: a representative of the pipelined region, or a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Region(u32),
    Named(NameId),
}

/// Groups all vertices. `map_order` is the order in which Flink's HashMap of vertices iterates.
///
/// # Errors
/// [`PlanError::CoLocationWithoutSlotSharing`] and [`PlanError::CoLocationConflict`] in map order, then
/// [`PlanError::NoSlotSharingGroup`].
pub fn share_slots(
    graph: &StreamGraph,
    chains: &Chains,
    ids: &OperatorIds,
    resources: &[Option<Resources>],
    map_order: &[VertexIndex],
    profile: Profile,
) -> Result<SlotSharing> {
    let keys = keys(graph, chains);
    let groupless = map_order.iter().find(|vertex| keys[vertex.get()].is_none());
    let missing = groupless.map(|&vertex| PlanError::NoSlotSharingGroup { operator: graph.label(head(chains, vertex)), profile });
    match (profile.checks_groups_first(), missing) {
        (true, Some(missing)) => return Err(missing),
        (_, missing) => check_co_location(graph, chains, &keys, map_order).and(missing.map_or(Ok(()), Err))?,
    }
    let keyed = all::<VertexIndex>(keys.len()).map(|vertex| (vertex, keys[vertex.get()].expect("checked above")));
    let (group_of, groups) = number::<_, SlotGroupIndex>(keyed);
    let ordered = by_java_id(all(keys.len()).map(|vertex| (vertex, ids.get(head(chains, vertex)))));
    let members = Csr::group(groups, ordered.iter().map(|&vertex| (group_of[vertex.get()], vertex)));
    let resources = all(groups).map(|group| sum(members.of(group), resources)).collect();
    let (co_location_of, co_located) = co_locate(graph, chains, map_order);
    Ok(SlotSharing { group_of, members, resources, co_location_of, co_located })
}

/// Vertices ordered as Java compares their ids.
fn by_java_id(vertices: impl ExactSizeIterator<Item = (VertexIndex, Option<OperatorId>)> + Clone) -> Vec<VertexIndex> {
    let order = |id: Option<OperatorId>| id.map_or((i64::MIN, i64::MIN), |id| id.java_order());
    let upper = vertices.clone().map(|(vertex, id)| (order(id).0 as u64 ^ 1 << 63, vertex));
    let sorted = by_hash(upper);
    if sorted.windows(2).all(|pair| pair[0].0 != pair[1].0) {
        return sorted.into_iter().map(|(_, vertex)| vertex).collect();
    }
    let mut whole: Vec<_> = vertices.map(|(vertex, id)| (order(id), vertex)).collect(); // upper halves are hardly ever equal
    whole.sort_unstable();
    whole.into_iter().map(|(_, vertex)| vertex).collect()
}

/// Sorts by evenly distributed keys: into as many buckets by their leading bits that few items stay to be compared.
fn by_hash(items: impl ExactSizeIterator<Item = (u64, VertexIndex)> + Clone) -> Vec<(u64, VertexIndex)> {
    const PER_BUCKET: usize = 8;
    let bits = (items.len() / PER_BUCKET).checked_ilog2().unwrap_or(0);
    let bucket = |key: u64| Bucket(key.checked_shr(64 - bits).unwrap_or(0) as u32);
    let buckets: Csr<Bucket, (u64, VertexIndex)> = Csr::group(1 << bits, items.clone().map(|item| (bucket(item.0), item)));
    let mut sorted = Vec::with_capacity(items.len());
    for list in buckets.lists() {
        let start = sorted.len();
        sorted.extend_from_slice(list);
        sorted[start..].sort_unstable();
    }
    sorted
}

fn head(chains: &Chains, vertex: VertexIndex) -> crate::dense::NodeIndex {
    chains.chains[vertex.get()].head
}

fn keys(graph: &StreamGraph, chains: &Chains) -> Vec<Option<Key>> {
    let regions =
        if graph.settings.all_vertices_in_same_slot_sharing_group { vec![0; chains.chains.len()] } else { pipelined_regions(chains) };
    let key = |(vertex, name): (usize, Option<NameId>)| {
        name.map(|name| if graph.text(name) == "default" { Key::Region(regions[vertex]) } else { Key::Named(name) })
    };
    chains.chains.iter().map(|chain| graph.nodes.slot_sharing_group.get(chain.head.get())).enumerate().map(key).collect()
}

/// A representative of the pipelined region of each vertex.
fn pipelined_regions(chains: &Chains) -> Vec<u32> {
    let mut regions = UnionFind::new(chains.chains.len());
    for connection in chains.connections.iter().filter(|connection| connection.result_type.is_pipelined()) {
        regions.unite(connection.source.0, connection.target.0);
    }
    regions.representatives()
}

fn check_co_location(graph: &StreamGraph, chains: &Chains, keys: &[Option<Key>], map_order: &[VertexIndex]) -> Result<()> {
    if !graph.nodes.co_location_group.any(|group| group.is_some()) {
        return Ok(());
    }
    let mut first: HashMap<NameId, VertexIndex> = HashMap::new();
    for &vertex in map_order {
        let node = head(chains, vertex);
        let Some(group) = graph.node(node).co_location_group else { continue };
        let text = || graph.text(group).to_owned();
        if keys[vertex.get()].is_none() {
            return Err(PlanError::CoLocationWithoutSlotSharing { operator: graph.label(node), group: text() });
        }
        let other = *first.entry(group).or_insert(vertex);
        if keys[other.get()] != keys[vertex.get()] {
            let other = graph.label(head(chains, other));
            return Err(PlanError::CoLocationConflict { operator: graph.label(node), group: text(), other });
        }
    }
    Ok(())
}

type CoLocated = (Column<Option<CoLocationIndex>>, Csr<CoLocationIndex, VertexIndex>);

fn co_locate(graph: &StreamGraph, chains: &Chains, map_order: &[VertexIndex]) -> CoLocated {
    let key = |vertex: VertexIndex| graph.nodes.co_location_group.get(head(chains, vertex).get());
    let keyed = all::<VertexIndex>(chains.chains.len()).filter_map(|vertex| Some((vertex, key(vertex)?)));
    let (numbers, groups) = number::<_, CoLocationIndex>(keyed);
    let mut numbers = numbers.into_iter();
    let mut group_of = Column::default();
    for vertex in all::<VertexIndex>(chains.chains.len()) {
        group_of.push(key(vertex).and_then(|_| numbers.next()), chains.chains.len());
    }
    let members = map_order.iter().filter_map(|&vertex| Some((group_of.get(vertex.get())?, vertex)));
    let members = Csr::group(groups, members);
    (group_of, members)
}

/// Numbers keys by first appearance: the number of each item, and how many there are. Neighbours mostly have equal keys.
fn number<K: std::hash::Hash + Eq + Copy, N: Index>(items: impl Iterator<Item = (VertexIndex, K)>) -> (Vec<N>, usize) {
    let mut numbers: HashMap<K, N> = HashMap::new();
    let mut number_of = Vec::with_capacity(items.size_hint().0);
    let mut last: Option<(K, N)> = None;
    for (_, key) in items {
        let number = match last {
            Some((same, number)) if same == key => number,
            _ => {
                let next = N::new(numbers.len());
                *numbers.entry(key).or_insert(next)
            }
        };
        last = Some((key, number));
        number_of.push(number);
    }
    (number_of, numbers.len())
}

fn sum(group: &[VertexIndex], resources: &[Option<Resources>]) -> Option<ResourceSpec> {
    group.iter().try_fold(ResourceSpec::zero(), |sum, vertex| Some(sum.merge(&resources.get(vertex.get())?.as_ref()?.min)))
}

#[cfg(test)]
mod tests {
    use crate::stream_graph::{NewNode, Partitioner, Role, Settings, StreamGraphBuilder};
    use crate::test_graphs::{edge, graph, job, node};

    #[test]
    fn default_is_one_group_and_names_share() {
        let named = |id, role| NewNode { slot_sharing_group: Some("g"), ..node(id, role) };
        let nodes = [node(1, Role::Source), named(2, Role::Operator), named(3, Role::Operator), node(4, Role::Sink)];
        let hash = Some(Partitioner::Hash);
        let job = job(graph(&nodes, &[(1, 2, hash), (2, 3, hash), (3, 4, hash)]));
        assert_eq!(job.slots().group_of.iter().map(|group| group.0).collect::<Vec<_>>(), [0, 1, 1, 0]);
    }

    #[test]
    fn regions_share_when_the_program_says_so() {
        let settings = Settings { all_vertices_in_same_slot_sharing_group: false, ..Settings::default() };
        let mut builder = StreamGraphBuilder::new(settings);
        for (id, role) in [(1, Role::Source), (2, Role::Sink), (3, Role::Source)] {
            builder.add_node(&node(id, role)).unwrap();
        }
        builder.add_edge(edge(1, 2, Some(Partitioner::Hash))).unwrap();
        let job = job(builder.build());
        assert_eq!(job.slots().group_of.iter().map(|group| group.0).collect::<Vec<_>>(), [0, 0, 1]);
    }
}
