//! Which keys of a table were used lately, where a store has more of them.

use bumpalo::Bump;

use super::table::Table;
use crate::batch::Batch;
use crate::column::{Builder, Column};
use crate::program::Program;
use crate::value::Value;
use crate::vectors::{Vector, evaluate};

/// Records whose keys are looked for together.
const TOGETHER: usize = 1 << 12;

/// The uses of a table that has some of the keys of a store: by number the turn that used each one last, and whether the store
/// has something of it. A turn takes records whose keys are all in the table.
#[derive(Debug, Default)]
pub struct Uses {
    last: Vec<u32>,
    stored: Vec<bool>,
    fresh: usize,
    turn: u32,
}

impl Uses {
    /// How many keys the store has nothing of.
    pub fn fresh(&self) -> usize {
        self.fresh
    }

    /// Whether the store has something of a key.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn is_stored(&self, number: u32) -> bool {
        self.stored[number as usize]
    }

    /// Begins a turn with the records from one to before another: their keys that are not in the table, each once, and the place
    /// behind the last record whose key, and those before it, is not in doubt. O(records).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn begin(&mut self, table: &Table, key: &Program, batch: &Batch, start: usize, end: usize) -> (Column, usize) {
        assert!(start <= end && end <= batch.len(), "records are within their batch");
        self.turn += 1;
        let mut missing = Table::default();
        let row = each_key(key, batch, start, end, |key| self.note(table, &mut missing, key));
        match keys_of(&missing) {
            Some(keys) => (keys, row),
            None => (Builder::new().finish(), start),
        }
    }

    /// Notes that a key is used; `None` where it cannot be in a table.
    fn note(&mut self, table: &Table, missing: &mut Table, key: Value<'_>) -> Option<()> {
        let hash = table.hash(key).ok()?;
        if let Some(number) = table.find(hash, key) {
            self.last[number] = self.turn;
        } else if missing.find(hash, key).is_none() {
            missing.insert(hash, key, Value::None, false).ok()?;
        }
        Some(())
    }

    /// Notes that the table has so many keys now; `stored` says whether the store has something of the new ones.
    pub fn grow(&mut self, count: usize, stored: bool) {
        self.fresh += if stored { 0 } else { count - self.last.len() };
        self.last.resize(count, self.turn);
        self.stored.resize(count, stored);
    }

    /// Notes that the store has these keys.
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn store(&mut self, numbers: &[u32]) {
        for &number in numbers {
            let stored = &mut self.stored[number as usize];
            self.fresh -= usize::from(!*stored);
            *stored = true;
        }
    }

    /// The keys that are to leave a table which takes more than so many bytes, so that it takes half of them: those that were
    /// used longest ago. O(keys).
    pub fn idle(&self, table: &Table, bytes: usize) -> Vec<u32> {
        let stay = (table.len() as u128 * bytes as u128 / (2 * table.memory().max(1)) as u128) as usize;
        let mut numbers: Vec<u32> = (0..table.len() as u32).collect();
        let leave = table.len() - stay.min(table.len());
        if leave > 0 && leave < numbers.len() {
            numbers.select_nth_unstable_by_key(leave, |&number| (self.last[number as usize], number));
        }
        numbers.truncate(leave);
        numbers
    }

    /// Takes keys out of the table, and gives back its memory. O(keys of the table).
    ///
    /// # Panics
    ///
    /// There are not so many.
    pub fn forget(&mut self, table: &mut Table, numbers: &[u32]) {
        let mut stay = vec![true; table.len()];
        numbers.iter().for_each(|&number| stay[number as usize] = false);
        table.retain(&stay);
        let mut flags = stay.iter();
        self.last.retain(|_| flags.next() == Some(&true));
        flags = stay.iter();
        self.stored.retain(|_| flags.next() == Some(&true));
        self.last.shrink_to_fit();
        self.stored.shrink_to_fit();
        self.fresh = self.stored.iter().filter(|&&stored| !stored).count();
    }
}

/// The keys of a table, by number; `None` where together they would take more than 2 GiB of texts.
pub(super) fn keys_of(table: &Table) -> Option<Column> {
    Some(table.columns(&(0..table.len() as u32).collect::<Vec<_>>())?.0)
}

/// Takes the keys of the records from one to before another, until one is in doubt or not taken; gives the place behind the last
/// record whose key is taken.
pub(super) fn each_key(key: &Program, batch: &Batch, start: usize, end: usize, mut take: impl FnMut(Value<'_>) -> Option<()>) -> usize {
    let (constants, mut arena) = (Bump::new(), Bump::new());
    let of_key = key.constants(&constants);
    let mut row = start;
    while row < end {
        let size = TOGETHER.min(end - row);
        let (keys, sure) = evaluate(key, of_key, arena.alloc([Vector::from((batch.records(), row))]), size, &arena);
        let taken = (0..sure).take_while(|&index| take(keys.get(index, &arena)).is_some()).count();
        row += taken;
        if taken < size {
            break;
        }
        arena.reset();
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::Refusal;

    fn batch(keys: &[Value<'_>]) -> Batch {
        let mut builder = Builder::new();
        keys.iter().try_for_each(|&key| builder.push(Value::Tuple(&[key])).map(drop)).expect("they fit");
        Batch::new(builder.finish(), None).expect("there are as many")
    }

    fn key() -> Program {
        let text = r#"{"v": 1, "functions": [{"params": 1, "locals": 1, "body": [["return", ["index", ["local", 0], ["const", 0]]]]}]}"#;
        Program::parse(text).expect("it is a program")
    }

    fn begin(uses: &mut Uses, table: &mut Table, keys: &[Value<'_>]) -> (Vec<String>, usize) {
        let (missing, sure) = uses.begin(table, &key(), &batch(keys), 0, keys.len());
        let arena = Bump::new();
        (0..missing.len()).for_each(|row| table.put(missing.get(row, &arena), Value::Int(7)).map(drop).expect("it fits"));
        uses.grow(table.len(), false);
        ((0..missing.len()).map(|row| format!("{:?}", missing.get(row, &arena))).collect(), sure)
    }

    #[test]
    fn keys_that_are_not_in_the_table_are_missing_once() {
        let (mut uses, mut table) = (Uses::default(), Table::default());
        let [a, b, c] = ["a", "b", "c"].map(Value::Text);
        assert_eq!(begin(&mut uses, &mut table, &[a, b, a]), (vec!["Text(\"a\")".to_owned(), "Text(\"b\")".to_owned()], 3));
        assert_eq!(begin(&mut uses, &mut table, &[b, c, c]), (vec!["Text(\"c\")".to_owned()], 3));
        assert_eq!((uses.fresh(), uses.is_stored(0)), (3, false));
        uses.store(&[0]);
        assert_eq!((uses.fresh(), uses.is_stored(0)), (2, true));
    }

    #[test]
    fn a_key_in_doubt_ends_the_turn() {
        let (mut uses, mut table) = (Uses::default(), Table::default());
        let keys = [Value::Float(1.0), Value::Float(2.0)];
        assert_eq!(begin(&mut uses, &mut table, &keys), (vec![], 0));
    }

    #[test]
    fn the_keys_that_were_used_longest_ago_leave() -> Result<(), Refusal> {
        let (mut uses, mut table, arena) = (Uses::default(), Table::default(), Bump::new());
        let keys: Vec<_> = (0..1_000).map(Value::Int).collect();
        begin(&mut uses, &mut table, &keys);
        begin(&mut uses, &mut table, &keys[100..300]);
        table.written();
        table.touch(150);
        let bytes = table.memory();
        let leaving = uses.idle(&table, bytes * 2 / 5 + 1);
        assert_eq!(leaving.len(), 800);
        uses.forget(&mut table, &leaving);
        assert!(table.memory() < bytes / 3);
        assert_eq!((table.len(), table.changed(), uses.fresh()), (200, &[50][..], 200));
        let number = table.find(table.hash(Value::Int(250))?, Value::Int(250));
        assert_eq!(number.map(|number| format!("{:?}", table.value(number, &arena))), Some("Int(7)".to_owned()));
        assert_eq!(table.find(table.hash(Value::Int(300))?, Value::Int(300)), None);
        uses.forget(&mut table, &(0..200).collect::<Vec<_>>());
        assert_eq!((table.len(), table.memory()), (0, 0));
        Ok(())
    }
}
