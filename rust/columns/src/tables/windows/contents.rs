//! What is in a window: one value, that grows with each record.

use std::cell::RefCell;

use bumpalo::Bump;

use crate::heap::Heap;
use crate::machine::{Input, MOST_STEPS, Objects};
use crate::program::Program;
use crate::tables::best::{Best, field_of};
use crate::tables::reduce::{Fold, field};
use crate::value::{Doubt, Value};

/// How records become the contents of a window.
#[derive(Clone, Debug)]
pub enum Contents {
    /// The first record, with one field folded.
    Field(usize, Fold),
    /// One of the records, whole.
    Best(Best),
    /// What a function of the contents so far and the record returns; the first record at first.
    Reduce(Program),
    /// An accumulator.
    Aggregate(Box<Aggregate>),
    /// All records.
    Elements,
}

/// The functions of an accumulator.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// Makes one.
    pub create: Program,
    /// Takes a record and the accumulator.
    pub add: Program,
    /// What a window with the accumulator shows.
    pub result: Program,
    /// Two as one; needed where windows merge.
    pub merge: Option<Program>,
}

impl Contents {
    /// Whether accumulators are lists or sets that are changed in place.
    pub fn changes(&self) -> bool {
        matches!(self, Self::Aggregate(all) if all.add.changes())
    }

    /// Whether accumulators are kept as objects; `lists`: whether lists by themselves can be kept otherwise.
    pub fn has_objects(&self, lists: bool) -> bool {
        let Self::Aggregate(all) = self else { return false };
        let arena = Bump::new();
        let first = all.create.call(all.create.constants(&arena), &mut [], &arena, &mut MOST_STEPS.clone());
        self.changes() || matches!(first, Ok(Value::Dict(_))) || (!lists && matches!(first, Ok(Value::List(_))))
    }

    /// Whether a record may change the contents: a function of both, and the place of the contents.
    pub fn guard(&self) -> Option<(Program, usize)> {
        match self {
            Self::Reduce(program) => Some((program.guard(0)?, 0)),
            Self::Aggregate(all) => Some((all.add.guard(1)?, 1)),
            _ => None,
        }
    }

    /// Whether the functions take as many arguments as they will be given; `merging`: whether windows merge.
    pub fn fits(&self, merging: bool) -> bool {
        let takes = |program: &Program, parameters| program.parameters() == parameters && !program.is_iterator();
        match self {
            Self::Field(..) | Self::Best(_) | Self::Elements => true,
            Self::Reduce(program) => takes(program, 2),
            Self::Aggregate(all) => {
                let merges = all.merge.as_ref().map_or(!merging, |merge| takes(merge, 2));
                takes(&all.create, 0) && takes(&all.add, 2) && takes(&all.result, 1) && merges
            }
        }
    }
}

/// The same with the constants of a run.
pub struct Ready<'p> {
    contents: &'p Contents,
    /// Whether accumulators are objects even where they are not kept.
    objects: bool,
    create: &'p [Value<'p>],
    add: &'p [Value<'p>],
    result: &'p [Value<'p>],
    merge: &'p [Value<'p>],
}

impl<'p> Ready<'p> {
    /// With constants in an arena.
    pub fn new(contents: &'p Contents, arena: &'p Bump) -> Self {
        let mut ready = Self { contents, objects: contents.has_objects(true), create: &[], add: &[], result: &[], merge: &[] };
        match contents {
            Contents::Field(..) | Contents::Best(_) | Contents::Elements => {}
            Contents::Reduce(program) => {
                ready.add = program.constants(arena);
                ready.merge = ready.add;
            }
            Contents::Aggregate(all) => {
                ready.create = all.create.constants(arena);
                ready.add = all.add.constants(arena);
                ready.result = all.result.constants(arena);
                ready.merge = all.merge.as_ref().map_or(&[], |merge| merge.constants(arena));
            }
        }
        ready
    }

    /// The field whose integers are folded, and how.
    #[inline]
    pub fn folded(&self) -> Option<(usize, Fold)> {
        if let Contents::Field(position, fold) = self.contents { Some((*position, *fold)) } else { None }
    }

    /// Whether all records are kept.
    #[inline]
    pub fn keeps_all(&self) -> bool {
        matches!(self.contents, Contents::Elements)
    }

    /// The contents after a record.
    pub fn add<'a>(&self, current: Option<Value<'a>>, record: Input<'a>, arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        match (self.contents, current) {
            (Contents::Field(..) | Contents::Best(_) | Contents::Reduce(_), None) => Ok(record.value(arena)),
            (Contents::Field(position, fold), Some(current)) => folded(current, *position, *fold, field(record, *position, arena)?, arena),
            (Contents::Best(best), Some(current)) => {
                let new = field(record, best.position, arena)?;
                Ok(if best.gives_way(field_of(current, best.position)?, new)? { record.value(arena) } else { current })
            }
            (Contents::Reduce(program), Some(current)) => {
                program.call(self.add, &mut [Input::Value(current), record], arena, &mut MOST_STEPS.clone())
            }
            (Contents::Aggregate(all), current) => {
                let steps = &mut MOST_STEPS.clone();
                let current = match current {
                    Some(current) => current,
                    None => all.create.call(self.create, &mut [], arena, steps)?,
                };
                all.add.call(self.add, &mut [record, Input::Value(current)], arena, steps)
            }
            (Contents::Elements, _) => Err(Doubt),
        }
    }

    /// An accumulator that is changed in place, after a record.
    pub fn change<'a, 'h>(
        &self,
        current: Option<u32>,
        record: Input<'a>,
        heap: &'h RefCell<&'h mut Heap>,
        arena: &'a Bump,
    ) -> Result<u32, Doubt>
    where
        'p: 'a,
    {
        let Contents::Aggregate(all) = self.contents else { return Err(Doubt) };
        let steps = &mut MOST_STEPS.clone();
        let current = current.map_or_else(|| self.created(heap, arena), Ok)?;
        let inputs = &mut [record, Input::Value(Value::Object(current))];
        match all.add.call_with((None, Objects::Of(heap, false)), self.add, inputs, arena, steps)? {
            Value::Object(number) if number == current => Ok(number),
            Value::Object(_) => Err(Doubt),
            value => heap.borrow_mut().adopt(value),
        }
    }

    /// A new accumulator that is changed in place.
    pub fn created<'a, 'h>(&self, heap: &'h RefCell<&'h mut Heap>, arena: &'a Bump) -> Result<u32, Doubt>
    where
        'p: 'a,
    {
        let Contents::Aggregate(all) = self.contents else { return Err(Doubt) };
        let value = all.create.call_with((None, Objects::Of(heap, true)), self.create, &mut [], arena, &mut MOST_STEPS.clone())?;
        heap.borrow_mut().adopt(value)
    }

    /// The constants of the function that takes a record.
    pub fn of_add(&self) -> &'p [Value<'p>] {
        self.add
    }

    /// What a window with such an accumulator shows. Doubt, if it goes on: that is the accumulator or a list in it, so that
    /// who gets it would see it change.
    pub fn result_of<'a, 'h>(
        &self,
        accumulator: u32,
        goes_on: bool,
        heap: &'h RefCell<&'h mut Heap>,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        let Contents::Aggregate(all) = self.contents else { return Err(Doubt) };
        let (mark, inputs) = (heap.borrow().mark(), &mut [Input::Value(Value::Object(accumulator))]);
        let result = all.result.call_with((None, Objects::Of(heap, false)), self.result, inputs, arena, &mut MOST_STEPS.clone());
        let mut heap = heap.borrow_mut();
        let result = match result {
            Ok(Value::Object(number)) if !goes_on => heap.copy(number, arena),
            Ok(Value::Object(_)) => Err(Doubt),
            result => result,
        };
        heap.rollback(mark);
        result
    }

    /// Two accumulators that are changed in place as one: one of them, or a new one.
    pub fn merge_in_place<'a, 'h>(&self, (one, other): (u32, u32), heap: &'h RefCell<&'h mut Heap>, arena: &'a Bump) -> Result<u32, Doubt>
    where
        'p: 'a,
    {
        let Contents::Aggregate(all) = self.contents else { return Err(Doubt) };
        let inputs = &mut [one, other].map(|number| Input::Value(Value::Object(number)));
        let program = all.merge.as_ref().ok_or(Doubt)?;
        match program.call_with((None, Objects::Of(heap, true)), self.merge, inputs, arena, &mut MOST_STEPS.clone())? {
            Value::Object(number) if number == one || number == other => Ok(number),
            Value::Object(_) => Err(Doubt),
            value => heap.borrow_mut().adopt(value),
        }
    }

    /// What a window shows that keeps its records.
    pub fn reduced<'a>(&self, records: &'a [Value<'a>], arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        if self.keeps_all() {
            return Ok(Value::List(records));
        }
        if self.objects {
            let heap = &mut Heap::default();
            return self.reduced_in_place(records, &RefCell::new(heap), arena);
        }
        let mut contents = None;
        for &record in records {
            contents = Some(self.add(contents, Input::Value(record), arena)?);
        }
        match contents {
            Some(contents) => self.result(contents, arena),
            None => self.of_nothing(arena),
        }
    }

    /// The same in a heap that has nothing else.
    fn reduced_in_place<'a, 'h>(
        &self,
        records: &'a [Value<'a>],
        heap: &'h RefCell<&'h mut Heap>,
        arena: &'a Bump,
    ) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        let mut accumulator = self.created(heap, arena)?;
        for &record in records {
            accumulator = self.change(Some(accumulator), Input::Value(record), heap, arena)?;
        }
        self.result_of(accumulator, false, heap, arena)
    }

    /// The contents of two windows as one.
    pub fn merge<'a>(&self, one: Value<'a>, other: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        let (program, constants) = match self.contents {
            Contents::Field(position, fold) => {
                return folded(one, *position, *fold, field_of(other, *position)?, arena);
            }
            Contents::Best(best) => {
                let other_stays = best.gives_way(field_of(one, best.position)?, field_of(other, best.position)?)?;
                return Ok(if other_stays { other } else { one });
            }
            Contents::Reduce(program) => (program, self.merge),
            Contents::Elements => return Err(Doubt),
            Contents::Aggregate(all) => (all.merge.as_ref().ok_or(Doubt)?, self.merge),
        };
        program.call(constants, &mut [Input::Value(one), Input::Value(other)], arena, &mut MOST_STEPS.clone())
    }

    /// What a window shows without records: None, or the result of an accumulator.
    fn of_nothing<'a>(&self, arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        let Contents::Aggregate(all) = self.contents else { return Ok(Value::None) };
        self.result(all.create.call(self.create, &mut [], arena, &mut MOST_STEPS.clone())?, arena)
    }

    /// What a window with these contents shows.
    pub fn result<'a>(&self, contents: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Doubt>
    where
        'p: 'a,
    {
        match self.contents {
            Contents::Aggregate(all) => all.result.call(self.result, &mut [Input::Value(contents)], arena, &mut MOST_STEPS.clone()),
            _ => Ok(contents),
        }
    }
}

/// A record with one field folded.
fn folded<'a>(record: Value<'a>, position: usize, fold: Fold, new: Value<'a>, arena: &'a Bump) -> Result<Value<'a>, Doubt> {
    let (Value::Tuple(fields) | Value::Row(_, fields)) = record else { return Err(Doubt) };
    let fields = arena.alloc_slice_copy(fields);
    let place = fields.get_mut(position).ok_or(Doubt)?;
    *place = fold.apply(*place, new, arena)?;
    Ok(match record {
        Value::Row(shape, _) => Value::Row(shape, fields),
        _ => Value::Tuple(fields),
    })
}
