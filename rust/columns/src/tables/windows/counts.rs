//! Windows by the number of records: one window of each key, which never ends. It fires with every so many records; then it
//! is emptied, or keeps its records, or the last of them. The twin of `penstock.runtime.operators.window` on the global window
//! with a `CountTrigger`.

use bumpalo::Bump;

use super::contents::{Contents, Ready};
use super::entries::{Entries, GONE, Window};
use super::news::{News, Rows, each};
use super::next::Next;
use super::out::Out;
use crate::batch::Batch;
use crate::column::Refusal;
use crate::heap::Tree;
use crate::machine::Input;
use crate::program::Program;
use crate::tables::reduce::Fold;
use crate::value::{Doubt, Value};
use crate::vectors::{Vector, evaluate};

/// The only window of a key.
const WINDOW: Window = Window { start: 0, end: 0 };

/// Records whose keys are found together.
const TOGETHER: usize = 1 << 10;

/// What comes out of one call at the most, apart from the last record's window.
const MOST_RECORDS: usize = 1 << 16;

/// What windows by count do.
#[derive(Clone, Debug)]
pub struct CountSpec {
    /// Gives the key of a record.
    pub key: Program,
    /// With how many records a window fires.
    pub every: i64,
    /// Whether it is emptied then.
    pub purges: bool,
    /// How many records stay, where all are kept until then, and not what they have become.
    pub most: Option<usize>,
    /// What becomes of the records.
    pub contents: Contents,
    /// Whether results come with their keys.
    pub shows: bool,
    /// A function of key, window, and list of contents, or without the key: what it gives are the results.
    pub seeing: Option<Program>,
}

/// How far a run has come.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// What has fired.
    pub out: Option<Batch>,
    /// The place behind the last record that is done.
    pub end: usize,
    /// Whether the record there is doubtful; if not, another run continues with it.
    pub doubtful: bool,
}

/// What has changed since the last time. Each is to be applied before the next one.
#[derive(Debug, Default)]
pub struct CountNews {
    /// Keys whose window is empty: key and two numbers.
    pub removed: Vec<Batch>,
    /// Key, two numbers, and what is in the window.
    pub values: Vec<Batch>,
    /// Of which of these Python has contents.
    pub known: Vec<bool>,
    /// What is in these windows, where accumulators are changed in place; then there is None in `values`.
    pub contents: Vec<Tree>,
    /// Key, and how many records came since its window fired.
    pub counts: Vec<Batch>,
}

/// The windows of all keys.
#[derive(Debug)]
pub struct CountWindows {
    spec: CountSpec,
    entries: Entries,
    /// How many records came since a window fired.
    counts: Vec<i64>,
}

impl CountWindows {
    /// `None` where the functions do not take as many arguments as they will be given, or a number is not positive.
    pub fn new(spec: CountSpec) -> Option<Self> {
        let fits = spec.key.parameters() == 1 && !spec.key.is_iterator() && spec.contents.fits(false);
        let fits = fits && spec.every > 0 && spec.most != Some(0);
        let fits = fits && spec.seeing.as_ref().is_none_or(|seeing| matches!(seeing.parameters(), 2 | 3));
        fits.then(|| Self { entries: empty(&spec), counts: Vec::new(), spec })
    }

    /// How many windows have something in them.
    pub fn len(&self) -> usize {
        self.entries.full()
    }

    /// How much memory they take, in bytes. O(windows).
    pub fn memory(&self) -> usize {
        self.entries.memory() + self.counts.capacity() * size_of::<i64>()
    }

    /// Whether accumulators are changed in place.
    pub fn has_objects(&self) -> bool {
        self.entries.objects.is_some()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many windows have records that came since they fired.
    pub fn counting(&self) -> usize {
        self.counts.iter().filter(|&&count| count > 0).count()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries = empty(&self.spec);
        self.counts.clear();
    }

    /// What Python does not know; it counts as known from then on. O(changes).
    pub fn news(&mut self) -> Result<CountNews, Doubt> {
        let (mut counts, mut arena) = (Rows::default(), Bump::new());
        for &number in &self.entries.changed {
            let number = number as usize;
            if self.entries.flags[number] & GONE == 0 {
                counts.push(&[self.entries.key(number, &arena), Value::Int(self.counts[number])])?;
            }
            arena.reset();
        }
        let news = self.entries.news()?;
        let News { removed, values, known, contents, .. } = news;
        Ok(CountNews { removed, values, known, contents, counts: counts.finish() })
    }

    /// Takes the state of Python in place of this one, in the form of [`CountNews`]; `contents`: accumulators that are changed
    /// in place. Doubt: something of it cannot be here, and nothing is.
    pub fn load(&mut self, values: &[Batch], counts: &[Batch], contents: &[Tree]) -> Result<(), Doubt> {
        self.clear();
        self.entries.load(&[], values, &[], contents).and_then(|()| self.load_counts(counts)).inspect_err(|Doubt| self.clear())
    }

    fn load_counts(&mut self, counts: &[Batch]) -> Result<(), Doubt> {
        let Self { spec, entries, counts: numbers } = self;
        numbers.resize(entries.flags.len(), 0);
        each(counts, &mut Bump::new(), |fields, _| {
            let &[key, Value::Int(count)] = fields else { return Err(Doubt) };
            let number = entries.find(entries.hash(key)?, key, WINDOW).ok_or(Doubt)?;
            numbers[number] = count;
            if (0..spec.every).contains(&count) { Ok(()) } else { Err(Doubt) } // another program may have counted to more
        })
    }

    /// Takes the records from one to before another, until one is doubtful.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn run(&mut self, batch: &Batch, start: usize, end: usize) -> Counted {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        let Self { spec, entries, counts } = self;
        if keeps_lists(spec) && batch.records().has_lists() {
            return Counted { end: start, doubtful: true, ..Counted::default() };
        }
        let constants = Bump::new();
        let of_key = spec.key.constants(&constants);
        let ready = Ready::new(&spec.contents, &constants);
        let all = ready.keeps_all();
        let out = Out::endless(spec.shows, spec.seeing.as_ref(), all, &constants);
        let mut run = Run { spec, ready, entries, counts, out };
        let (mut row, mut doubtful) = (start, false);
        let (mut of_keys, mut arena) = (Bump::new(), Bump::new());
        'records: while row < end && !doubtful {
            let size = TOGETHER.min(end - row);
            let (keys, sure) = evaluate(&spec.key, of_key, of_keys.alloc([Vector::from((batch.records(), row))]), size, &of_keys);
            for index in 0..sure {
                if run.out.size() >= MOST_RECORDS {
                    break 'records;
                }
                let fired = run.out.len();
                let taken = run.record(batch, row, keys.get(index, &arena), &arena);
                run.entries.settle(taken.is_ok());
                if let Err(refusal) = taken {
                    run.out.truncate(fired);
                    doubtful = refusal == Refusal::Doubt || fired == 0;
                    break 'records;
                }
                arena.reset();
                row += 1;
            }
            doubtful = sure < size;
            of_keys.reset();
        }
        Counted { out: run.out.finish(), end: row, doubtful }
    }
}

fn empty(spec: &CountSpec) -> Entries {
    let elements = spec.most.is_some() || matches!(spec.contents, Contents::Elements);
    let entries = Entries::new(0, false, elements, keeps_lists(spec));
    if spec.most.is_none() && spec.contents.has_objects(keeps_lists(spec)) { entries.with_objects() } else { entries }
}

/// Whether lists can be in windows; a function may change one, so that nobody else may have it.
fn keeps_lists(spec: &CountSpec) -> bool {
    matches!(spec.contents, Contents::Aggregate(_)) && spec.purges && spec.most.is_none()
}

/// A run while it goes.
struct Run<'r> {
    spec: &'r CountSpec,
    ready: Ready<'r>,
    entries: &'r mut Entries,
    counts: &'r mut Vec<i64>,
    out: Out<'r>,
}

impl<'r> Run<'r> {
    /// A record with this key. When it is refused nothing has changed but what is out.
    fn record<'a>(&mut self, batch: &'a Batch, row: usize, key: Value<'a>, arena: &'a Bump) -> Result<(), Refusal>
    where
        'r: 'a,
    {
        let hash = self.entries.hash(key)?;
        let number = self.entries.find(hash, key, WINDOW);
        let seen = number.map_or(0, |number| self.counts[number]) + 1;
        let (record, fires) = (Input::Row(batch.records(), row), seen >= self.spec.every);
        if self.spec.most.is_some() || self.ready.keeps_all() {
            self.keep((hash, key), number, (seen, fires), record.value(arena), arena)
        } else {
            self.add((hash, key), number, (seen, fires), record, arena)
        }
    }

    /// Adds a record to what is in a window.
    fn add<'a>(
        &mut self,
        (hash, key): (u64, Value<'a>),
        number: Option<usize>,
        (seen, fires): (i64, bool),
        record: Input<'a>,
        arena: &'a Bump,
    ) -> Result<(), Refusal>
    where
        'r: 'a,
    {
        let next = self.entries.next(&self.ready, number, fires, key, record, arena)?;
        if fires {
            let (ready, goes_on) = (&self.ready, !self.spec.purges);
            let shown = match next {
                Next::Root(root) => self.entries.with_heap(|heap| ready.result_of(root, goes_on, heap, arena))?,
                Next::Whole(value) => ready.result(value, arena)?,
                Next::Int(..) | Next::Record(_) => return Err(Refusal::Doubt),
            };
            self.out.push(key, WINDOW, Some(shown), false, arena)?;
            if self.spec.purges {
                self.forget(number);
                return Ok(());
            }
        }
        let number = self.number(number, hash, key);
        self.entries.put(number, &next, &mut None);
        self.counts[number] = if fires { 0 } else { seen };
        Ok(())
    }

    /// Puts a record behind those in a window.
    fn keep<'a>(
        &mut self,
        (hash, key): (u64, Value<'a>),
        number: Option<usize>,
        (seen, fires): (i64, bool),
        record: Value<'a>,
        arena: &'a Bump,
    ) -> Result<(), Refusal>
    where
        'r: 'a,
    {
        if !self.entries.admits(key, Value::List(&[record])) {
            return Err(Refusal::Doubt);
        }
        let (mut surplus, mut first) = (0, None);
        if fires {
            let shown;
            (surplus, shown) = self.shown(number, record, arena)?;
            if self.spec.most.is_some() && matches!(self.ready.folded(), Some((_, Fold::Min | Fold::Max))) {
                first = Some(shown.copied(arena)); // where Flink writes it
                if !self.entries.admits(key, Value::List(&[shown])) {
                    return Err(Refusal::Doubt);
                }
            }
            self.out.push(key, WINDOW, Some(shown), false, arena)?;
            if self.spec.purges {
                self.forget(number);
                return Ok(());
            }
        }
        let number = self.number(number, hash, key);
        let record = self.entries.keep(record);
        self.entries.add(number, record);
        self.entries.drop_first(number, surplus, first);
        self.counts[number] = if fires { 0 } else { seen };
        Ok(())
    }

    /// How many records of a window are not wanted any more, and what it shows of the others and one more.
    fn shown<'a>(&self, number: Option<usize>, record: Value<'a>, arena: &'a Bump) -> Result<(usize, Value<'a>), Doubt>
    where
        'r: 'a,
    {
        let Value::List(records) = self.entries.list(number.into_iter(), record, arena).copied(arena) else { return Err(Doubt) };
        let surplus = records.len().saturating_sub(self.spec.most.unwrap_or(usize::MAX));
        Ok((surplus, self.ready.reduced(&records[surplus..], arena)?))
    }

    /// The number of a window, which may be a new one.
    fn number(&mut self, number: Option<usize>, hash: u64, key: Value<'_>) -> usize {
        number.unwrap_or_else(|| {
            let number = self.entries.create(hash, key, WINDOW, WINDOW);
            if number >= self.counts.len() {
                self.counts.resize(number + 1, 0);
            }
            number
        })
    }

    /// A window is empty.
    fn forget(&mut self, number: Option<usize>) {
        if let Some(number) = number {
            self.counts[number] = 0;
            self.entries.empty(number);
            self.entries.retire(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::{Builder, Column};
    use crate::program::Constant;

    fn batch(records: &[(&str, i64)]) -> Batch {
        let (mut builder, arena) = (Builder::new(), Bump::new());
        for (name, number) in records {
            let record = Constant::Tuple([Constant::Text((*name).into()), Constant::Int(*number)].into());
            builder.push(record.value(&arena)).expect("it fits");
        }
        Batch::new(builder.finish(), Some(Column::ints((0..records.len() as i64).collect()))).expect("there are as many")
    }

    fn windows(every: i64, most: Option<usize>) -> CountWindows {
        let key = r#"["return", ["index", ["local", 0], ["const", 0]]]"#;
        let key = format!(r#"{{"v": 1, "functions": [{{"params": 1, "locals": 1, "body": [{key}]}}]}}"#);
        let key = Program::parse(&key).expect("it is a program");
        let contents = Contents::Field(1, Fold::Sum);
        let spec = CountSpec { key, every, purges: most.is_none(), most, contents, shows: false, seeing: None };
        CountWindows::new(spec).expect("they fit")
    }

    fn sums(counted: &Counted) -> Vec<String> {
        let arena = Bump::new();
        let rows = |batch: &Batch| (0..batch.len()).map(|row| format!("{:?}", batch.records().get(row, &arena))).collect();
        counted.out.as_ref().map_or_else(Vec::new, rows)
    }

    #[test]
    fn a_window_fires_when_it_is_full() {
        let mut windows = windows(2, None);
        let counted = windows.run(&batch(&[("a", 1), ("b", 2), ("a", 3), ("a", 4)]), 0, 4);
        assert_eq!(sums(&counted), ["Tuple([Text(\"a\"), Int(4)])"]);
        assert_eq!((counted.end, counted.doubtful, windows.len(), windows.counting()), (4, false, 2, 2));
        assert_eq!(counted.out.and_then(|out| out.time(0)), Some(i64::MAX));
    }

    #[test]
    fn the_last_records_stay() {
        let mut windows = windows(1, Some(2));
        let counted = windows.run(&batch(&[("a", 1), ("a", 2), ("a", 4), ("a", i64::MAX)]), 0, 4);
        let expected = ["Tuple([Text(\"a\"), Int(1)])", "Tuple([Text(\"a\"), Int(3)])", "Tuple([Text(\"a\"), Int(6)])"];
        assert_eq!(sums(&counted), expected);
        assert_eq!((counted.end, counted.doubtful, windows.len(), windows.counting()), (3, true, 1, 0));
    }
}
