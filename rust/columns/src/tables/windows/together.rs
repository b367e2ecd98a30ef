//! Many records on their way into panes at a time, by key and pane, where no window of theirs is over: then nothing fires on
//! the way, and records of different keys do not know of each other. What is new comes in the order of the records.

use bumpalo::Bump;
use hashbrown::HashTable;

use super::Spec;
use super::assigner::Assigner;
use super::contents::Ready;
use super::effects::Effects;
use super::entries::{Entries, Window};
use super::folds::{FAR, Folds, Numbers, is_near};
use super::straight::{Field, Straight};
use super::takes::Known;
use crate::batch::Batch;
use crate::column::Data;
use crate::machine::Input;
use crate::program::Program;
use crate::tables::reduce::Fold;
use crate::value::{Doubt, Value};
use crate::vectors::{Places, Vector, evaluate, truths};

/// Records at a time, where their numbers are added up.
const MANY: usize = 1 << 12;
/// The same where a function takes one after the other.
const SOME: usize = 1 << 10;
/// Times and spans that can be added without looking are below.
const MOST_TIME: u64 = 1 << 60;

/// Records that are looked at together, at first and at the most, whether one changes the contents of their window.
const LOOK: usize = 32;
const FAR_LOOK: usize = 1 << 10;

/// Says which records may change contents: a function, its constants, and which of its arguments the contents are.
type Guard<'r> = (&'r Program, &'r [Value<'r>], usize);

/// Records of one key in one pane, which all belong to the same windows.
pub(super) struct Group<'a> {
    pub(super) hash: u64,
    pub(super) key: Value<'a>,
    pub(super) pane: Pane,
    /// How many.
    pub(super) count: usize,
}

/// The start of the last of some windows, and how many there are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Pane {
    last: i64,
    windows: i64,
}

/// What takes records together.
pub(super) struct Together<'r> {
    pub(super) spec: &'r Spec,
    pub(super) ready: &'r Ready<'r>,
    pub(super) of_key: &'r [Value<'r>],
    folds: Option<(&'r Folds, Vec<Numbers<'r>>)>,
    straight: Option<(Straight, Field<'r>)>,
    effects: Option<&'r Effects>,
    guard: Option<Guard<'r>>,
    pub(super) batch: &'r Batch,
    pub(super) times: Option<&'r [i64]>,
    pub(super) now: Option<i64>,
    watermark: i64,
    spans: (i64, i64, i64),
}

impl<'r> Together<'r> {
    /// `None` where the records of a batch go one by one.
    pub(super) fn new(
        (spec, ready, of_key): (&'r Spec, &'r Ready<'r>, &'r [Value<'r>]),
        (known, constants): (&'r Known, &'r Bump),
        batch: &'r Batch,
        watermark: i64,
        now: Option<i64>,
    ) -> Option<Self> {
        let Assigner::Panes { size, slide, offset } = spec.assigner else { return None };
        let objects = known.objects;
        let times = match batch.times().map(|times| (times.data(), times.presence())) {
            Some((Data::Ints(times), None)) => Some(&**times),
            _ if now.is_some() => None,
            _ => return None,
        };
        let folds = known.folds.as_ref().and_then(|folds| Some((folds, folds.numbers(batch)?)));
        let straight = known.straight.filter(|_| size <= slide).and_then(|straight| Some((straight, straight.field(batch)?)));
        let effects = known.effects.as_ref().filter(|_| size <= slide); // so that no two groups have a window in common
        let guard = known.guard.as_ref().map(|(program, place)| (program, program.constants(constants), *place));
        let known = folds.is_some() || effects.is_some() || (size <= slide && !ready.keeps_all() && !objects);
        known.then_some(Self {
            spec,
            ready,
            of_key,
            folds,
            straight,
            effects,
            guard,
            batch,
            times,
            now,
            watermark,
            spans: (size, slide, offset),
        })
    }

    /// Takes some records from one on, at the most to before another. Returns how many; an error if they are to go one by one,
    /// as nothing has changed.
    pub(super) fn take(&self, entries: &mut Entries, start: usize, end: usize, arena: &Bump) -> Result<usize, usize> {
        let straight = self.straight.filter(|_| entries.has_alike(self.batch.records()));
        match (self.count(start, end), straight) {
            (0, _) => Err(1),
            (count, Some(straight)) => self.fold_each(entries, straight, start, count, arena),
            (count, None) => self.take_all(entries, start, count, arena).map(|()| count).map_err(|Doubt| count),
        }
    }

    /// How many records from one on can be taken together.
    fn count(&self, start: usize, end: usize) -> usize {
        let most = if self.folds.is_some() || self.straight.is_some() { MANY } else { SOME };
        let end = end.min(start + most);
        match (self.now, self.times) {
            (Some(now), _) if now > self.watermark => end - start,
            (None, Some(times)) => times[start..end].iter().take_while(|&&time| time > self.watermark).count(),
            _ => 0,
        }
    }

    fn take_all(&self, entries: &mut Entries, start: usize, count: usize, arena: &Bump) -> Result<(), Doubt> {
        let keys = keys(&self.spec.key, self.of_key, self.batch, start, count, arena)?;
        let (groups, of_rows) = self.groups(entries, keys, start, count, arena)?;
        match (&self.folds, self.effects) {
            (Some((folds, numbers)), _) => self.add_up(entries, (folds, numbers), &groups, &of_rows, start),
            (None, Some(effects)) => {
                let evaluated = effects.evaluate(self.ready.of_add(), self.batch, start, count, arena)?;
                self.change(entries, &evaluated, &groups, &of_rows, arena)
            }
            (None, None) => self.add(entries, &groups, &of_rows, start, arena),
        }
    }

    /// The groups in the order of their first records, and that of each record.
    fn groups<'a>(
        &self,
        entries: &Entries,
        keys: Vector<'a>,
        start: usize,
        count: usize,
        arena: &'a Bump,
    ) -> Result<(Vec<Group<'a>>, Vec<u32>), Doubt> {
        let (mut groups, mut of_rows) = (Vec::<Group<'a>>::new(), Vec::with_capacity(count));
        let mut index = HashTable::<u32>::new();
        let mut last = 0;
        for at in 0..count {
            let time = self.now.or_else(|| self.times.map(|times| times[start + at])).ok_or(Doubt)?;
            let pane = self.pane(time)?;
            let key = keys.get(at, arena);
            let is_it = |group: &Group<'_>| group.pane == pane && is_same(group.key, key);
            if !groups.get(last).is_some_and(is_it) {
                let hash = entries.hash(key)?;
                let place = pane.place(hash);
                last = match index.find(place, |&other| is_it(&groups[other as usize])) {
                    Some(&known) => known as usize,
                    None => {
                        groups.push(Group { hash, key, pane, count: 0 });
                        let again = |&other: &u32| groups[other as usize].pane.place(groups[other as usize].hash);
                        index.insert_unique(place, groups.len() as u32 - 1, again);
                        groups.len() - 1
                    }
                };
            }
            groups[last].count += 1;
            of_rows.push(last as u32);
        }
        Ok((groups, of_rows))
    }

    /// The windows that hold a time. Doubt: one of them could begin or end beyond 64 bits.
    #[inline]
    pub(super) fn pane(&self, time: i64) -> Result<Pane, Doubt> {
        let (size, slide, offset) = self.spans;
        if [time, size, slide, offset].iter().any(|number| number.unsigned_abs() >= MOST_TIME) {
            return Err(Doubt);
        }
        let past = (time - offset).rem_euclid(slide);
        let windows = if past < size { (size - past + slide - 1) / slide } else { 0 };
        Ok(Pane { last: time - past, windows })
    }

    /// The windows of a pane, the last one first.
    pub(super) fn windows(&self, pane: Pane) -> impl Iterator<Item = Window> + use<> {
        let (size, slide, _) = self.spans;
        (0..pane.windows).map(move |at| pane.last - at * slide).map(move |start| Window { start, end: start + size })
    }

    /// Adds up the numbers of each group, and these to what is in its windows.
    fn add_up(
        &self,
        entries: &mut Entries,
        (folds, numbers): (&Folds, &[Numbers<'_>]),
        groups: &[Group<'_>],
        of_rows: &[u32],
        start: usize,
    ) -> Result<(), Doubt> {
        let width = folds.parts.len();
        let sums = sums(folds, numbers, groups, of_rows, start)?;
        let whole: u64 = sums.iter().map(|sum| sum.unsigned_abs()).try_fold(0, u64::checked_add).ok_or(Doubt)?;
        if whole >= FAR {
            return Err(Doubt);
        }
        let numbers = self.places(entries, folds, groups, &sums)?;
        let mut numbers = numbers.into_iter();
        for (group, sums) in groups.iter().zip(sums.chunks(width)) {
            for window in self.windows(group.pane) {
                let known = numbers.next().flatten().map(|number| number as usize);
                let known = known.or_else(|| entries.find(group.hash, group.key, window));
                let number = known.unwrap_or_else(|| entries.create(group.hash, group.key, window, window));
                entries.fold(number, folds, sums);
                entries.enter(number);
            }
        }
        Ok(())
    }

    /// The numbers of all windows of all groups that are there; in doubt if something could not be added in one of them.
    fn places(&self, entries: &mut Entries, folds: &Folds, groups: &[Group<'_>], sums: &[i64]) -> Result<Vec<Option<u32>>, Doubt> {
        let mut numbers = Vec::new();
        for (group, sums) in groups.iter().zip(sums.chunks(folds.parts.len())) {
            let parts: Vec<_> = sums.iter().map(|&sum| Value::Int(sum)).collect();
            if !entries.admits(group.key, if folds.tuple { Value::Tuple(&parts) } else { parts[0] }) {
                return Err(Doubt);
            }
            for window in self.windows(group.pane) {
                let number = entries.find(group.hash, group.key, window);
                let is_known = |at: usize, number| entries.number(number, folds.tuple.then_some(at)).is_some_and(is_near);
                if number.is_some_and(|number| entries.is_full(number) && !(0..folds.parts.len()).all(|at| is_known(at, number))) {
                    return Err(Doubt);
                }
                numbers.push(number.map(|number| number as u32));
            }
        }
        if entries.has_room(numbers.len()) { Ok(numbers) } else { Err(Doubt) }
    }

    /// Gives a function the records of each group, which have one window, or none.
    fn add<'a>(&self, entries: &mut Entries, groups: &[Group<'a>], of_rows: &[u32], start: usize, arena: &'a Bump) -> Result<(), Doubt>
    where
        'r: 'a,
    {
        let (rows, ends) = by_group(groups, of_rows, start, arena)?;
        let mut results = Vec::with_capacity(groups.len());
        for (group, &end) in groups.iter().zip(&ends) {
            let Some(window) = self.windows(group.pane).next() else { continue };
            let number = entries.find(group.hash, group.key, window);
            let value = number.and_then(|number| entries.value(number, arena)).map(|value| value.copied(arena));
            let value = self.add_all(value, &rows[end - group.count..end], arena)?.ok_or(Doubt)?;
            if !entries.admits(group.key, value) {
                return Err(Doubt);
            }
            results.push((group, window, number, value));
        }
        if !entries.has_room(results.len()) {
            return Err(Doubt);
        }
        for (group, window, number, value) in results {
            let number = number.unwrap_or_else(|| entries.create(group.hash, group.key, window, window));
            entries.set(number, value);
            entries.enter(number);
        }
        Ok(())
    }
}

/// Records by group, counted from one on; and where each group ends.
pub(super) fn by_group<'a>(groups: &[Group<'_>], of_rows: &[u32], start: usize, arena: &'a Bump) -> Result<(&'a [u32], Vec<usize>), Doubt> {
    let mut ends: Vec<usize> = groups.iter().scan(0, |end, group| Some(std::mem::replace(end, *end + group.count))).collect();
    let rows = arena.alloc_slice_fill_copy(of_rows.len(), 0);
    for (row, &group) in of_rows.iter().enumerate() {
        let end = &mut ends[group as usize];
        rows[*end] = u32::try_from(start + row).map_err(|_| Doubt)?;
        *end += 1;
    }
    Ok((rows, ends))
}

impl<'r> Together<'r> {
    /// The contents of a window after some records.
    fn add_all<'a>(&self, mut value: Option<Value<'a>>, rows: &'a [u32], arena: &'a Bump) -> Result<Option<Value<'a>>, Doubt>
    where
        'r: 'a,
    {
        let (mut at, mut look) = (0, LOOK);
        while at < rows.len() {
            if let (Some(guard), Some(contents)) = (self.guard, value)
                && rows.len() - at >= LOOK
            {
                let some = &rows[at..rows.len().min(at + look)];
                let unchanged = self.unchanged(guard, contents, some, arena);
                at += unchanged;
                look = if unchanged == some.len() { FAR_LOOK.min(2 * look) } else { LOOK };
                if unchanged == some.len() {
                    continue;
                }
            }
            let next = rows.len().min(at + LOOK / 4); // so that looking in vain costs little
            for &row in &rows[at..next] {
                value = Some(self.ready.add(value, Input::Row(self.batch.records(), row as usize), arena)?);
            }
            at = next;
        }
        Ok(value)
    }

    /// How many of some records are known to change nothing.
    fn unchanged<'a>(&self, (program, constants, place): Guard<'r>, contents: Value<'a>, rows: &'a [u32], arena: &'a Bump) -> usize
    where
        'r: 'a,
    {
        let records = Vector::Column(self.batch.records(), Places::Picked(rows));
        let mut inputs = [records, records];
        inputs[place] = Vector::Same(contents);
        let (changes, sure) = evaluate(program, constants, arena.alloc(inputs), rows.len(), arena);
        let (changes, sure) = truths(changes, sure, arena);
        changes[..sure].iter().position(|&changes| changes).unwrap_or(sure)
    }
}

impl Pane {
    #[inline]
    fn place(self, hash: u64) -> u64 {
        hash ^ (self.last ^ self.windows << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64).rotate_left(29) as u64
    }
}

/// The sums of all parts of each group. Doubt: one of them is not near.
fn sums(folds: &Folds, numbers: &[Numbers<'_>], groups: &[Group<'_>], of_rows: &[u32], start: usize) -> Result<Vec<i64>, Doubt> {
    let width = folds.parts.len();
    let mut sums = vec![0; width * groups.len()];
    for (at, (part, numbers)) in folds.parts.iter().zip(numbers).enumerate() {
        if let (Numbers::Same(number), Fold::Sum) = (*numbers, part.fold) {
            for (group, sums) in groups.iter().zip(sums.chunks_mut(width)) {
                sums[at] = number.checked_mul(group.count as i64).filter(|sum| is_near(*sum)).ok_or(Doubt)?;
            }
            continue;
        }
        let mut begun = vec![false; groups.len()];
        for (row, &group) in of_rows.iter().enumerate() {
            let (sum, begun) = (&mut sums[group as usize * width + at], &mut begun[group as usize]);
            let number = numbers.get(start + row);
            *sum = if *begun { part.apply(*sum, number) } else { number };
            *begun = true;
            if !is_near(*sum) {
                return Err(Doubt);
            }
        }
    }
    Ok(sums)
}

/// The keys of records; in doubt if one is.
pub(super) fn keys<'a>(
    program: &'a Program,
    constants: &'a [Value<'a>],
    batch: &'a Batch,
    start: usize,
    count: usize,
    arena: &'a Bump,
) -> Result<Vector<'a>, Doubt> {
    let records = arena.alloc([Vector::Column(batch.records(), Places::From(start))]);
    let (keys, sure) = evaluate(program, constants, records, count, arena);
    if sure < count { Err(Doubt) } else { Ok(keys) }
}

/// Whether two keys, of the types that keys have, are the same. Recursive, as deep as these.
fn is_same(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::Int(one), Value::Int(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::Moment(one), Value::Moment(other)) => one == other,
        (Value::None, Value::None) => true,
        (Value::Tuple(one), Value::Tuple(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(&one, &other)| is_same(one, other))
        }
        _ => false,
    }
}
