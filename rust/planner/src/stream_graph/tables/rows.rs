//! What the rows of the three tables say: columns, defaults, and how a row becomes what the builder adds.

use super::super::builder::{NewEdge, NewIteration, StreamGraphBuilder};
use super::super::resources::Resources;
use super::super::spec_parts::{SpecResources, resource_pair};
use super::super::types::{ChainingStrategy, NodeExtras, Partitioner, Role, ShuffleMode, StreamNode};
use super::fields::Kind::{Bools, Ints as Integers, Numbers, Result as Shown, Struct, Texts as Text};
use super::fields::{Fields, Ints, Known, Texts};
use crate::dense::NameId;
use crate::error::{PlanError, Result};

/// Columns of nodes.
pub(super) const NODES: &[Known] = &[
    ("id", Integers, true),
    ("name", Text, true),
    ("kind", Text, true),
    ("uid", Text, false),
    ("user_hash", Text, false),
    ("slot_sharing_group", Text, false),
    ("co_location_group", Text, false),
    ("parallelism", Integers, false),
    ("max_parallelism", Integers, false),
    ("chaining_strategy", Text, false),
    ("yielding", Bools, false),
    ("managed_memory_weight", Integers, false),
    ("buffer_timeout", Integers, false),
    ("min_resources", Struct, false),
    ("preferred_resources", Struct, false),
    ("min_resources.cpu", Numbers, false),
    ("min_resources.heap_mb", Integers, false),
    ("min_resources.off_heap_mb", Integers, false),
    ("min_resources.managed_mb", Integers, false),
    ("preferred_resources.cpu", Numbers, false),
    ("preferred_resources.heap_mb", Integers, false),
    ("preferred_resources.off_heap_mb", Integers, false),
    ("preferred_resources.managed_mb", Integers, false),
    ("task", Text, false),
    ("input_format", Text, false),
    ("output_format", Text, false),
    ("coordinator", Text, false),
];

/// Columns of loops.
pub(super) const ITERATIONS: &[Known] = &[
    ("loop_id", Integers, true),
    ("source_id", Integers, true),
    ("sink_id", Integers, true),
    ("parallelism", Integers, true),
    ("max_parallelism", Integers, false),
    ("timeout", Integers, false),
    ("slot_sharing_group", Text, false),
    ("min_resources", Struct, false),
    ("preferred_resources", Struct, false),
    ("min_resources.cpu", Numbers, false),
    ("min_resources.heap_mb", Integers, false),
    ("min_resources.off_heap_mb", Integers, false),
    ("min_resources.managed_mb", Integers, false),
    ("preferred_resources.cpu", Numbers, false),
    ("preferred_resources.heap_mb", Integers, false),
    ("preferred_resources.off_heap_mb", Integers, false),
    ("preferred_resources.managed_mb", Integers, false),
];

/// Columns of edges.
pub(super) const EDGES: &[Known] = &[
    ("source", Integers, true),
    ("target", Integers, true),
    ("partitioner", Text, false),
    ("shuffle_mode", Text, false),
    ("input", Integers, false),
    ("side_output", Text, false),
    ("partition_node", Integers, false),
    ("buffer_timeout", Integers, false),
    ("chained", Shown, false),
    ("rule", Shown, false),
];

const DEFAULT_GROUP: &str = "default";
const LOOP_ENDS: [Role; 2] = [Role::IterationHead, Role::IterationTail];

/// Reads nodes.
pub(super) struct NodeReader<'a> {
    fields: Fields<'a>,
    id: Ints<'a>,
    name: Texts<'a, NameId>,
    kind: Texts<'a, Role>,
    /// uid, user hash, slot sharing group, co-location group.
    identities: [Texts<'a, NameId>; 4],
    parallelism: Ints<'a>,
    max_parallelism: Ints<'a>,
    chaining_strategy: Texts<'a, ChainingStrategy>,
    managed_memory_weight: Ints<'a>,
    buffer_timeout: Ints<'a>,
    default_group: NameId,
    extras: Option<ExtrasReader<'a>>,
}

impl<'a> NodeReader<'a> {
    pub fn new(fields: Fields<'a>, builder: &mut StreamGraphBuilder) -> Self {
        Self {
            fields,
            id: fields.ints("id"),
            name: fields.texts("name"),
            kind: fields.texts("kind"),
            identities: ["uid", "user_hash", "slot_sharing_group", "co_location_group"].map(|column| fields.texts(column)),
            parallelism: fields.ints("parallelism"),
            max_parallelism: fields.ints("max_parallelism"),
            chaining_strategy: fields.texts("chaining_strategy"),
            managed_memory_weight: fields.ints("managed_memory_weight"),
            buffer_timeout: fields.ints("buffer_timeout"),
            default_group: builder.intern(DEFAULT_GROUP),
            extras: ExtrasReader::new(fields),
        }
    }

    /// The node of a row, its texts interned.
    pub fn read(&mut self, row: usize, builder: &mut StreamGraphBuilder) -> Result<StreamNode> {
        let mut interned = |texts: &mut Texts<'a, NameId>| texts.optional(row, |text| Ok(builder.intern(text)));
        let [uid, user_hash, group, co_location] = &mut self.identities;
        let default_group = (!group.given()).then_some(self.default_group);
        let (uid, user_hash) = (interned(uid)?, interned(user_hash)?);
        let (slot_sharing_group, co_location_group) = (interned(group)?.or(default_group), interned(co_location)?);
        Ok(StreamNode {
            id: self.id.required(row)?,
            name: self.name.required(row, |text| Ok(builder.intern(text)))?,
            role: self.kind.required(row, role)?,
            yielding: self.fields.truth("yielding", row)?,
            chaining_strategy: strategy(&mut self.chaining_strategy, row)?,
            uid,
            user_hash,
            slot_sharing_group,
            co_location_group,
            parallelism: self.parallelism.or(row, -1)?,
            max_parallelism: self.max_parallelism.or(row, -1)?,
            managed_memory_weight: self.managed_memory_weight.optional(row)?,
            extras: self.extras.as_mut().map_or(Ok(None), |extras| extras.read(row, builder))?,
            buffer_timeout: self.buffer_timeout.or(row, -1)?,
        })
    }
}

fn role(text: &str) -> std::result::Result<Role, String> {
    let end = || LOOP_ENDS.into_iter().find(|role| role.as_str() == text);
    Role::of_kind(text).or_else(end).ok_or_else(|| format!("one of {}", Role::KINDS.join(", ")))
}

fn strategy(column: &mut Texts<'_, ChainingStrategy>, row: usize) -> Result<ChainingStrategy> {
    named(column, row, ChainingStrategy::Always, ChainingStrategy::parse, ChainingStrategy::ALL)
}

/// One of Flink's spellings, or the default if there is no such column; null is refused.
fn named<T: Copy>(column: &mut Texts<'_, T>, row: usize, default: T, parse: fn(&str) -> Option<T>, all: &[&str]) -> Result<T> {
    if !column.given() {
        return Ok(default);
    }
    column.required(row, |text| parse(text).ok_or_else(|| format!("one of {}", all.join(", "))))
}

/// Reads what few nodes have; only made when a table has such a column.
struct ExtrasReader<'a> {
    resources: ResourcesReader<'a>,
    /// Task, input format, output format, coordinator.
    texts: [Texts<'a, NameId>; 4],
}

impl<'a> ExtrasReader<'a> {
    fn new(fields: Fields<'a>) -> Option<Self> {
        let texts = ["task", "input_format", "output_format", "coordinator"].map(|column| fields.texts(column));
        let resources = ResourcesReader::new(fields);
        (resources.given() || texts.iter().any(Texts::given)).then_some(Self { resources, texts })
    }

    fn read(&mut self, row: usize, builder: &mut StreamGraphBuilder) -> Result<Option<u32>> {
        let mut interned = |texts: &mut Texts<'a, NameId>| texts.optional(row, |text| Ok(builder.intern(text)));
        let [task, input_format, output_format, coordinator] = &mut self.texts;
        let extras = NodeExtras {
            task: interned(task)?,
            resources: self.resources.read(row)?,
            input_format: interned(input_format)?,
            output_format: interned(output_format)?,
            coordinator: interned(coordinator)?,
        };
        Ok(builder.add_extras(extras))
    }
}

/// Reads minimum and preferred resources: a CPU share and three sizes each.
struct ResourcesReader<'a> {
    fields: Fields<'a>,
    both: [(&'static str, [Ints<'a>; 3]); 2],
}

impl<'a> ResourcesReader<'a> {
    fn new(fields: Fields<'a>) -> Self {
        let min = ["min_resources.heap_mb", "min_resources.off_heap_mb", "min_resources.managed_mb"];
        let preferred = ["preferred_resources.heap_mb", "preferred_resources.off_heap_mb", "preferred_resources.managed_mb"];
        let ints = |columns: [&'static str; 3]| columns.map(|column| fields.ints(column));
        Self { fields, both: [("min_resources.cpu", ints(min)), ("preferred_resources.cpu", ints(preferred))] }
    }

    fn given(&self) -> bool {
        self.both.iter().any(|(cpu, sizes)| self.fields.has(cpu) || sizes.iter().any(Ints::given))
    }

    fn read(&self, row: usize) -> Result<Option<Resources>> {
        let [min, preferred] = [self.one(row, &self.both[0])?, self.one(row, &self.both[1])?];
        resource_pair(&|| self.fields.row(row), min.as_ref(), preferred.as_ref())
    }

    /// All four numbers, or none.
    fn one(&self, row: usize, (cpu_column, sizes): &(&'static str, [Ints<'_>; 3])) -> Result<Option<SpecResources>> {
        let cpu = self.fields.number(cpu_column, row);
        let [heap, off_heap, managed] = [0, 1, 2].map(|at| sizes[at].optional::<i64>(row));
        match (cpu, heap?, off_heap?, managed?) {
            (None, None, None, None) => Ok(None),
            (Some(cpu), Some(heap_mb), Some(off_heap_mb), Some(managed_mb)) => {
                Ok(Some(SpecResources { cpu, heap_mb, off_heap_mb, managed_mb }))
            }
            _ => Err(PlanError::InvalidValue {
                subject: self.fields.row(row),
                field: format!("column \"{}\"", cpu_column.trim_end_matches(".cpu")),
                value: "given in part".into(),
                expected: "all of cpu, heap_mb, off_heap_mb and managed_mb, or none".into(),
            }),
        }
    }
}

/// Reads loops.
pub(super) struct IterationReader<'a> {
    /// Loop, source, sink, parallelism.
    required: [Ints<'a>; 4],
    max_parallelism: Ints<'a>,
    timeout: Ints<'a>,
    slot_sharing_group: Texts<'a, &'a str>,
    resources: ResourcesReader<'a>,
}

impl<'a> IterationReader<'a> {
    pub fn new(fields: Fields<'a>) -> Self {
        Self {
            required: ["loop_id", "source_id", "sink_id", "parallelism"].map(|column| fields.ints(column)),
            max_parallelism: fields.ints("max_parallelism"),
            timeout: fields.ints("timeout"),
            slot_sharing_group: fields.texts("slot_sharing_group"),
            resources: ResourcesReader::new(fields),
        }
    }

    /// The loop of a row.
    pub fn read(&mut self, row: usize) -> Result<NewIteration<'a>> {
        let [loop_id, source_id, sink_id, parallelism] = [0, 1, 2, 3].map(|at| self.required[at].required(row));
        let default_group = (!self.slot_sharing_group.given()).then_some(DEFAULT_GROUP);
        Ok(NewIteration {
            loop_id: loop_id?,
            source_id: source_id?,
            sink_id: sink_id?,
            parallelism: parallelism?,
            max_parallelism: self.max_parallelism.or(row, -1)?,
            timeout: self.timeout.or(row, 0)?,
            slot_sharing_group: self.slot_sharing_group.optional(row, Ok)?.or(default_group),
            resources: self.resources.read(row)?,
        })
    }
}

/// Reads edges.
pub(super) struct EdgeReader<'a> {
    source: Ints<'a>,
    target: Ints<'a>,
    partitioner: Texts<'a, Partitioner>,
    shuffle_mode: Texts<'a, ShuffleMode>,
    input: Ints<'a>,
    side_output: Texts<'a, &'a str>,
    partition_node: Ints<'a>,
    buffer_timeout: Ints<'a>,
}

impl<'a> EdgeReader<'a> {
    pub fn new(fields: Fields<'a>) -> Self {
        Self {
            source: fields.ints("source"),
            target: fields.ints("target"),
            partitioner: fields.texts("partitioner"),
            shuffle_mode: fields.texts("shuffle_mode"),
            input: fields.ints("input"),
            side_output: fields.texts("side_output"),
            partition_node: fields.ints("partition_node"),
            buffer_timeout: fields.ints("buffer_timeout"),
        }
    }

    /// The edge of a row.
    pub fn read(&mut self, row: usize) -> Result<NewEdge<'a>> {
        let partitioner = |text: &str| Partitioner::parse(text).ok_or_else(|| format!("one of {}", Partitioner::ALL.join(", ")));
        Ok(NewEdge {
            source: self.source.required(row)?,
            target: self.target.required(row)?,
            partitioner: self.partitioner.optional(row, partitioner)?,
            shuffle_mode: named(&mut self.shuffle_mode, row, ShuffleMode::Undefined, ShuffleMode::parse, ShuffleMode::ALL)?,
            type_number: self.input.or(row, 0)?,
            side_output: self.side_output.optional(row, Ok)?,
            partition_node: self.partition_node.optional(row)?,
        })
    }

    /// An edge takes its buffer timeout from its source; a table that says otherwise would be misread.
    pub fn check_buffer_timeout(&self, row: usize, actual: i64) -> Result<()> {
        match self.buffer_timeout.optional::<i64>(row)? {
            Some(timeout) if timeout != actual => {
                let expected = format!("{actual}, the buffer timeout of its source: set it there, or drop the column");
                Err(self.buffer_timeout.place.refuse(row, timeout.to_string(), expected))
            }
            _ => Ok(()),
        }
    }
}
