//! Named graphs of any size, for measurements, scale tests and first tries. What they are planned as, they do not know.
//!
//! A shape is built here and not through a million calls from outside. Its nodes have the ids 1, 2, …; what it draws comes
//! from [`random`], so the same arguments give the same graph on every machine. Cost: O(nodes + edges) time and space.
//! Every function refuses arguments out of bounds with [`PlanError::InvalidValue`](crate::error::PlanError::InvalidValue).

mod random;
mod writer;

use std::fmt::Write;

use crate::error::Result;
use crate::stream_graph::{MAX_NODES, Partitioner, Role, ShuffleMode, StreamGraph, StreamNode};
use random::Random;
use writer::{Writer, bounded};

/// What every shape is told; shapes that draw nothing ignore the seed.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Number of nodes.
    pub operators: i64,
    /// Of every node.
    pub parallelism: i64,
    /// Of the random numbers.
    pub seed: u64,
}

/// Partitioners that never chain: what a fan-in or fan-out draws from, in this order.
const EXCHANGES: [Partitioner; 6] =
    [Partitioner::Rebalance, Partitioner::Rescale, Partitioner::Shuffle, Partitioner::Broadcast, Partitioner::Global, Partitioner::Hash];

fn operators(shape: &str, size: Size) -> Result<i32> {
    bounded(shape, "operators", size.operators, 1, MAX_NODES as i64)
}

/// A writer for `operators` nodes with about as many edges.
fn writer(shape: &str, size: Size) -> Result<(Writer, i32)> {
    let count = operators(shape, size)?;
    Ok((Writer::new(shape, size.operators, size.parallelism, count, i64::from(count))?, count))
}

/// Layers of `width` operators, of which each reads `inputs` of the layer before.
///
/// The first layer are sources. An operator reads the one above it without a partitioner, then `inputs - 1` drawn ones by
/// HASH; with two inputs it is a two-input operator.
pub fn layered_dag(size: Size, width: i64, inputs: i64) -> Result<StreamGraph> {
    let shape = "layered_dag";
    let count = operators(shape, size)?;
    let width = bounded(shape, "width", width, 1, MAX_NODES as i64)?;
    let inputs = bounded(shape, "inputs", inputs, 1, i64::from(u16::MAX))?;
    let edges = i64::from((count - width).max(0)) * i64::from(inputs);
    let mut writer = Writer::new(shape, size.operators, size.parallelism, count, edges)?;
    let (source, one, two) =
        (writer.kind("Source: Events", Role::Source), writer.kind("Map", Role::Operator), writer.kind("Join", Role::TwoInput));
    let (reader, first, others) = if inputs == 2 { (two, 1, 2) } else { (one, 0, 0) };
    let mut random = Random::new(size.seed);
    for _ in 0..width.min(count) {
        writer.node(source)?;
    }
    for _ in width..count {
        let id = writer.node(reader)?;
        let above = id - width;
        let layer = above - (above - 1) % width;
        writer.edge_of(above, id, first, None)?;
        for _ in 1..inputs {
            writer.edge_of(layer + random.below(width as u32) as i32, id, others, Some(Partitioner::Hash))?;
        }
    }
    Ok(writer.build())
}

/// A source and operators behind it, one after the other, all in one chain.
pub fn forward_chain(size: Size) -> Result<StreamGraph> {
    let (mut writer, count) = writer("forward_chain", size)?;
    let (source, map) = (writer.kind("Source: Numbers", Role::Source), writer.kind("Map", Role::Operator));
    writer.node(source)?;
    for before in 1..count {
        let id = writer.node(map)?;
        writer.edge(before, id)?;
    }
    Ok(writer.build())
}

/// Independent pipelines of five operators: source and map, then behind a HASH edge an aggregation, a filter and a sink.
pub fn keyed_pipelines(size: Size) -> Result<StreamGraph> {
    let (mut writer, count) = writer("keyed_pipelines", size)?;
    let kinds = [
        writer.kind("Source: Events", Role::Source),
        writer.kind("Map", Role::Operator),
        writer.kind("Keyed Aggregation", Role::Operator),
        writer.kind("Filter", Role::Operator),
        writer.kind("Sink: Print to Std. Out", Role::Sink),
    ];
    for (kind, place) in (0..kinds.len()).cycle().map(|place| (kinds[place], place)).take(count as usize) {
        let id = writer.node(kind)?;
        if place > 0 {
            writer.edge_of(id - 1, id, 0, (place == 2).then_some(Partitioner::Hash))?;
        }
    }
    Ok(writer.build())
}

/// Sources that one sink reads, each through a partitioner drawn from those that never chain.
pub fn fan_in(size: Size) -> Result<StreamGraph> {
    let (mut writer, count) = writer("fan_in", size)?;
    let (source, sink) = (writer.kind("Source: Events", Role::Source), writer.kind("Sink: Out", Role::Sink));
    let mut random = Random::new(size.seed);
    for _ in 0..(count - 1).max(1) {
        writer.node(source)?;
    }
    if count > 1 {
        writer.node(sink)?;
    }
    for id in 1..count {
        writer.edge_of(id, count, 0, Some(exchange(&mut random)))?;
    }
    Ok(writer.build())
}

/// A source that sinks read, each through a partitioner drawn from those that never chain.
pub fn fan_out(size: Size) -> Result<StreamGraph> {
    let mut random = Random::new(size.seed);
    star("fan_out", size, |_, node, _| node, || exchange(&mut random))
}

/// A source and sinks behind it, all with a uid of their own: `uid-` and the id.
pub fn uid_table(size: Size) -> Result<StreamGraph> {
    let mut text = String::new();
    let named = |writer: &mut Writer, node, id| {
        text.clear();
        write!(text, "uid-{id}").expect("a String takes everything");
        StreamNode { uid: Some(writer.intern(&text)), ..node }
    };
    star("uid_table", size, named, || Partitioner::Rebalance)
}

fn exchange(random: &mut Random) -> Partitioner {
    EXCHANGES[random.below(EXCHANGES.len() as u32) as usize]
}

/// A source and the sinks that read it; `finish` gives the node with an id its last touches.
fn star(
    shape: &str,
    size: Size,
    mut finish: impl FnMut(&mut Writer, StreamNode, i32) -> StreamNode,
    mut partitioner: impl FnMut() -> Partitioner,
) -> Result<StreamGraph> {
    let (mut writer, count) = writer(shape, size)?;
    let (source, sink) = (writer.kind("Source: Events", Role::Source), writer.kind("Sink: Out", Role::Sink));
    for id in 1..=count {
        let node = finish(&mut writer, if id == 1 { source } else { sink }, id);
        writer.node(node)?;
        if id > 1 {
            writer.edge_of(1, id, 0, Some(partitioner()))?;
        }
    }
    Ok(writer.build())
}

/// A source and diamonds behind it, one after the other: an operator, two branches, a join, which the next diamond reads.
pub fn diamonds(size: Size, yielding: bool) -> Result<StreamGraph> {
    let count = operators("diamonds", size)?;
    let edges = i64::from(count) / 4 * 5 + 4;
    let mut writer = Writer::new("diamonds", size.operators, size.parallelism, count, edges)?;
    let mut operator = |name| StreamNode { yielding, ..writer.kind(name, Role::Operator) };
    let (head, branch) = (operator("Operator"), operator("Branch"));
    let (source, join) = (writer.kind("Source: Events", Role::Source), writer.kind("Join", Role::TwoInput));
    writer.node(source)?;
    for place in (0..4).cycle().take(count as usize - 1) {
        let id = writer.node([head, branch, branch, join][place])?;
        match place {
            0 | 1 => writer.edge(id - 1, id)?,
            2 => writer.edge(id - 2, id)?,
            _ => {
                writer.edge_of(id - 2, id, 1, None)?;
                writer.edge_of(id - 1, id, 2, None)?;
            }
        }
    }
    Ok(writer.build())
}

/// A source and, behind a REBALANCE edge, yielding operators one after the other.
pub fn yielding_chain(size: Size) -> Result<StreamGraph> {
    let (mut writer, count) = writer("yielding_chain", size)?;
    let source = writer.kind("Source: Events", Role::Source);
    let operator = StreamNode { yielding: true, ..writer.kind("async wait operator", Role::Operator) };
    writer.node(source)?;
    for before in 1..count {
        let id = writer.node(operator)?;
        writer.edge_of(before, id, 0, (before == 1).then_some(Partitioner::Rebalance))?;
    }
    Ok(writer.build())
}

/// One keyed exchange between `parallelism` and `parallelism` subtasks: its square of execution edges.
pub fn all_to_all(parallelism: i64) -> Result<StreamGraph> {
    let (ends, mode) = (["Source: Events", "Keyed Aggregation"], ShuffleMode::Undefined);
    pair("all_to_all", parallelism, ends, Role::Operator, Partitioner::Hash, mode)
}

/// The graph of Flink's scheduler benchmarks: source and sink, all-to-all; pipelined (streaming) or `blocking` (batch).
pub fn scheduler_benchmark(parallelism: i64, blocking: bool) -> Result<StreamGraph> {
    let (shape, mode) = if blocking { ("scheduler_batch", ShuffleMode::Batch) } else { ("scheduler_streaming", ShuffleMode::Pipelined) };
    pair(shape, parallelism, ["Source", "Sink"], Role::Sink, Partitioner::Rebalance, mode)
}

fn pair(shape: &str, parallelism: i64, names: [&str; 2], role: Role, partitioner: Partitioner, mode: ShuffleMode) -> Result<StreamGraph> {
    let mut writer = Writer::new(shape, parallelism, parallelism, 2, 1)?;
    let ends = [writer.kind(names[0], Role::Source), writer.kind(names[1], role)];
    for end in ends {
        writer.node(end)?;
    }
    writer.edge_in_mode(1, 2, 0, Some(partitioner), mode)?;
    Ok(writer.build())
}

#[cfg(test)]
mod tests;
