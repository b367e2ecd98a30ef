//! Pass 5: slot sharing and co-location groups.
//!
//! Semantics: `StreamingJobGraphGenerator.setSlotSharingAndCoLocation`. "default" is one group for all, or one per
//! pipelined region; other names share by name; null shares with nobody and is refused at the end. Cost: O(V + E α(V)),
//! and O(V log V) to order the members of a group as Flink's TreeSet of vertex ids does.

use hashbrown::HashMap;

use super::chains::Chains;
use crate::error::{PlanError, Result};
use crate::index::{CoLocationIndex, Index, NameId, SlotGroupIndex, VertexIndex, all};
use crate::operator_id::OperatorIds;
use crate::stream_graph::{ResourceSpec, Resources, StreamGraph};
use crate::union_find::UnionFind;

/// Who may share a slot with whom.
#[derive(Clone, Debug)]
pub struct SlotSharing {
    /// The group of each vertex; numbered by first appearance among the vertices.
    pub group_of: Vec<SlotGroupIndex>,
    /// Members of each group, ordered by vertex id as Java compares it.
    pub members: Vec<Vec<VertexIndex>>,
    /// Sum of the members' minimum resources; `None` is UNKNOWN.
    pub resources: Vec<Option<ResourceSpec>>,
    /// The co-location group of each vertex.
    pub co_location_of: Vec<Option<CoLocationIndex>>,
    /// Members of each co-location group, in the order in which Flink adds them.
    pub co_located: Vec<Vec<VertexIndex>>,
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
) -> Result<SlotSharing> {
    let keys = keys(graph, chains);
    check_co_location(graph, chains, &keys, map_order)?;
    if let Some(&vertex) = map_order.iter().find(|vertex| keys[vertex.get()].is_none()) {
        return Err(PlanError::NoSlotSharingGroup { operator: graph.label(head(chains, vertex)) });
    }
    let (group_of, mut members) = number(all(keys.len()).map(|vertex: VertexIndex| (vertex, keys[vertex.get()].expect("checked above"))));
    let group_of = group_of.into_iter().map(SlotGroupIndex::new).collect();
    for group in &mut members {
        group.sort_by_cached_key(|&vertex| ids.get(head(chains, vertex)).map(|id| id.java_order()));
    }
    let resources = members.iter().map(|group| sum(group, resources)).collect();
    let (co_location_of, co_located) = co_locate(graph, chains, map_order);
    Ok(SlotSharing { group_of, members, resources, co_location_of, co_located })
}

fn head(chains: &Chains, vertex: VertexIndex) -> crate::index::NodeIndex {
    chains.chains[vertex.get()].head
}

fn keys(graph: &StreamGraph, chains: &Chains) -> Vec<Option<Key>> {
    let regions =
        if graph.settings.all_vertices_in_same_slot_sharing_group { vec![0; chains.chains.len()] } else { pipelined_regions(chains) };
    let key = |(vertex, name): (usize, Option<NameId>)| {
        name.map(|name| if graph.text(name) == "default" { Key::Region(regions[vertex]) } else { Key::Named(name) })
    };
    chains.chains.iter().map(|chain| graph.node(chain.head).slot_sharing_group).enumerate().map(key).collect()
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

fn co_locate(graph: &StreamGraph, chains: &Chains, map_order: &[VertexIndex]) -> (Vec<Option<CoLocationIndex>>, Vec<Vec<VertexIndex>>) {
    let key = |vertex: VertexIndex| graph.node(head(chains, vertex)).co_location_group;
    let keyed = all::<VertexIndex>(chains.chains.len()).filter_map(|vertex| Some((vertex, key(vertex)?)));
    let (numbers, mut members) = number(keyed.clone());
    let mut group_of = vec![None; chains.chains.len()];
    for ((vertex, _), group) in keyed.zip(numbers) {
        group_of[vertex.get()] = Some(CoLocationIndex::new(group));
    }
    members.iter_mut().for_each(Vec::clear);
    for &vertex in map_order {
        if let Some(group) = group_of[vertex.get()] {
            members[group.get()].push(vertex);
        }
    }
    (group_of, members)
}

/// Numbers keys by first appearance: the number of each item, and the items of each number.
fn number<K: std::hash::Hash + Eq>(items: impl Iterator<Item = (VertexIndex, K)>) -> (Vec<usize>, Vec<Vec<VertexIndex>>) {
    let mut numbers: HashMap<K, usize> = HashMap::new();
    let mut members: Vec<Vec<VertexIndex>> = Vec::new();
    let mut number_of = Vec::new();
    for (vertex, key) in items {
        let group = *numbers.entry(key).or_insert(members.len());
        if group == members.len() {
            members.push(Vec::new());
        }
        members[group].push(vertex);
        number_of.push(group);
    }
    (number_of, members)
}

fn sum(group: &[VertexIndex], resources: &[Option<Resources>]) -> Option<ResourceSpec> {
    group.iter().try_fold(ResourceSpec::zero(), |sum, vertex| Some(sum.merge(&resources[vertex.get()].as_ref()?.min)))
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
