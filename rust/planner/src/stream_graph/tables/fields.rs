//! The known columns of a table: found by name, checked for their type, read as what a graph wants.
//!
//! A refusal names table, row, column, value and what would be right. Cost: O(columns) per batch, O(1) per cell.

use super::cells::{Cells, Column, NotText};
use crate::error::{PlanError, Result};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ints,
    Numbers,
    Bools,
    Texts,
    /// A struct, whose parts are columns of their own; itself only there if it is all null.
    Struct,
    /// A result that a table of a graph shows, and that is made anew instead of read.
    Result,
}

/// A column that a table may have: name, what it holds, whether it must be there.
pub(super) type Known = (&'static str, Kind, bool);

/// The columns of one batch.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub table: &'static str,
    /// Rows of the table before this batch.
    pub first: usize,
    columns: &'a [Column<'a>],
}

impl Kind {
    fn holds(self, cells: &Cells<'_>) -> bool {
        match self {
            Self::Ints => matches!(cells, Cells::Nulls | Cells::Ints(_)),
            Self::Numbers => matches!(cells, Cells::Nulls | Cells::Ints(_) | Cells::Floats(_)),
            Self::Bools => matches!(cells, Cells::Nulls | Cells::Bools(_)),
            Self::Texts => matches!(cells, Cells::Nulls | Cells::Texts(_) | Cells::Coded { .. }),
            Self::Struct => matches!(cells, Cells::Nulls),
            Self::Result => true,
        }
    }

    fn described(self) -> &'static str {
        match self {
            Self::Ints => "integers of any width",
            Self::Numbers => "numbers",
            Self::Bools => "booleans",
            Self::Texts => "texts (utf8, large_utf8, string_view, or a dictionary of one of them)",
            Self::Struct => "a struct of cpu, heap_mb, off_heap_mb and managed_mb, all numbers",
            Self::Result => "anything",
        }
    }
}

impl<'a> Fields<'a> {
    /// Checks names and types. Refuses unknown, repeated, missing and mistyped columns.
    pub fn new(table: &'static str, first: usize, columns: &'a [Column<'a>], known: &[Known]) -> Result<Self> {
        let fields = Self { table, first, columns };
        for (at, column) in columns.iter().enumerate() {
            let Some((_, kind, _)) = known.iter().find(|(name, ..)| *name == column.name) else {
                let names: Vec<&str> = known.iter().filter(|(_, kind, _)| *kind != Kind::Result).map(|(name, ..)| *name).collect();
                return Err(fields.about(&column.name, "unknown", format!("one of {}; rename or drop it", names.join(", "))));
            };
            if columns[..at].iter().any(|other| other.name == column.name) {
                return Err(fields.about(&column.name, "given twice", "once: drop one of the two".into()));
            }
            if !kind.holds(&column.cells) {
                return Err(fields.about(&column.name, &format!("of type {}", column.type_name), format!("{}: cast it", kind.described())));
            }
        }
        match known.iter().find(|(name, _, required)| *required && fields.cells(name).is_none()) {
            Some((name, kind, _)) => Err(fields.about(name, "missing", kind.described().into())),
            None => Ok(fields),
        }
    }

    /// A column of integers.
    pub fn ints(&self, column: &'static str) -> Ints<'a> {
        Ints { place: self.place(column), cells: self.cells(column) }
    }

    /// A column of texts, each turned into a `T` once.
    pub fn texts<T: Copy>(&self, column: &'static str) -> Texts<'a, T> {
        let cells = self.cells(column);
        let codes = if let Some(Cells::Coded { count, .. }) = cells { *count } else { 0 };
        Texts { place: self.place(column), cells, codes: vec![None; codes], last: None }
    }

    /// A cell that is true or false; false without the column.
    pub fn truth(&self, column: &'static str, row: usize) -> Result<bool> {
        match self.cells(column) {
            None => Ok(false),
            Some(Cells::Bools(get)) if let Some(value) = get(row) => Ok(value),
            Some(_) => Err(self.place(column).refuse(row, "null".into(), "true or false; without the column it is false".into())),
        }
    }

    /// A number; `None` for null and without the column.
    pub fn number(&self, column: &str, row: usize) -> Option<f64> {
        match self.cells(column)? {
            Cells::Floats(get) => get(row),
            Cells::Ints(get) => get(row).map(|value| value as f64),
            _ => None,
        }
    }

    /// Whether a column is there.
    pub fn has(&self, column: &str) -> bool {
        self.cells(column).is_some()
    }

    /// A row as messages name it.
    pub fn row(&self, row: usize) -> String {
        format!("row {} of the {} table", self.first + row, self.table)
    }

    /// A refusal of the builder, with its row.
    pub fn at(&self, row: usize, refusal: PlanError) -> PlanError {
        PlanError::TableRow { row: (self.first + row) as u64, table: self.table.into(), refusal: Box::new(refusal) }
    }

    fn cells(&self, column: &str) -> Option<&'a Cells<'a>> {
        self.columns.iter().find(|other| other.name == column).map(|column| &column.cells)
    }

    fn place(&self, column: &'static str) -> Place {
        Place { table: self.table, first: self.first, column }
    }

    fn about(&self, column: &str, value: &str, expected: String) -> PlanError {
        let (subject, field) = (format!("the {} table", self.table), format!("column \"{column}\""));
        PlanError::InvalidValue { subject, field, value: value.into(), expected }
    }
}

/// Where a cell is.
#[derive(Clone, Copy)]
pub(super) struct Place {
    table: &'static str,
    first: usize,
    column: &'static str,
}

impl Place {
    /// A cell with a wrong value.
    #[cold]
    pub fn refuse(&self, row: usize, value: String, expected: String) -> PlanError {
        let subject = format!("row {} of the {} table", self.first + row, self.table);
        PlanError::InvalidValue { subject, field: format!("column \"{}\"", self.column), value, expected }
    }
}

/// Bounds of the integers of a graph.
pub(super) trait Bounded: TryFrom<i128> + std::fmt::Display {
    const BOUNDS: (Self, Self);
}

macro_rules! bounded {
    ($($type:ty),*) => { $(impl Bounded for $type { const BOUNDS: (Self, Self) = (Self::MIN, Self::MAX); })* };
}
bounded!(u8, i32, i64);

/// A column of integers.
pub(super) struct Ints<'a> {
    pub place: Place,
    cells: Option<&'a Cells<'a>>,
}

impl Ints<'_> {
    /// Whether there is such a column.
    pub fn given(&self) -> bool {
        self.cells.is_some()
    }

    /// The integer of a row; `None` for null and without the column.
    #[inline]
    pub fn optional<T: Bounded>(&self, row: usize) -> Result<Option<T>> {
        let Some(Cells::Ints(get)) = self.cells else { return Ok(None) };
        let Some(value) = get(row) else { return Ok(None) };
        T::try_from(value).map(Some).map_err(|_| self.place.refuse(row, value.to_string(), range::<T>()))
    }

    /// The integer of a row that must have one.
    #[inline]
    pub fn required<T: Bounded>(&self, row: usize) -> Result<T> {
        self.optional(row)?.ok_or_else(|| self.place.refuse(row, "null".into(), range::<T>()))
    }

    /// The integer of a row, or the default if there is no such column; null is refused.
    #[inline]
    pub fn or<T: Bounded>(&self, row: usize, default: T) -> Result<T> {
        match (self.cells, self.optional(row)?) {
            (_, Some(value)) => Ok(value),
            (None, None) => Ok(default),
            (Some(_), None) => {
                let expected = format!("{}; without the column it is {default}", range::<T>());
                Err(self.place.refuse(row, "null".into(), expected))
            }
        }
    }
}

fn range<T: Bounded>() -> String {
    format!("an integer from {} to {}", T::BOUNDS.0, T::BOUNDS.1)
}

/// A column of texts that mean a `T`.
pub(super) struct Texts<'a, T> {
    pub place: Place,
    cells: Option<&'a Cells<'a>>,
    /// What the codes of a dictionary mean, those that have come up.
    codes: Vec<Option<T>>,
    /// The text of the row before, which is often this row's too.
    last: Option<(&'a str, T)>,
}

impl<'a, T: Copy> Texts<'a, T> {
    /// Whether there is such a column.
    pub fn given(&self) -> bool {
        self.cells.is_some()
    }

    /// The meaning of a row's text; `None` for null and without the column. `parse` is asked once per code or run of texts.
    #[inline]
    pub fn optional(&mut self, row: usize, parse: impl FnOnce(&'a str) -> std::result::Result<T, String>) -> Result<Option<T>> {
        match self.cells {
            Some(Cells::Texts(get)) => {
                let Some(text) = get.get(row).map_err(|NotText| self.not_text(row))? else { return Ok(None) };
                if let Some((_, value)) = self.last.filter(|(last, _)| *last == text) {
                    return Ok(Some(value));
                }
                let value = self.parsed(row, text, parse)?;
                self.last = Some((text, value));
                Ok(Some(value))
            }
            Some(Cells::Coded { code, text, count }) => {
                let Some(code) = code(row) else { return Ok(None) };
                let in_range = usize::try_from(code).ok().filter(|code| code < count);
                let code = in_range.ok_or_else(|| {
                    self.place.refuse(row, format!("the dictionary code {code}"), format!("a code from 0 to {}", *count as i128 - 1))
                })?;
                if self.codes[code].is_none() {
                    let Some(text) = text.get(code).map_err(|NotText| self.not_text(row))? else { return Ok(None) };
                    self.codes[code] = Some(self.parsed(row, text, parse)?);
                }
                Ok(self.codes[code])
            }
            _ => Ok(None),
        }
    }

    /// The meaning of a row that must have a text.
    #[inline]
    pub fn required(&mut self, row: usize, parse: impl FnOnce(&'a str) -> std::result::Result<T, String>) -> Result<T> {
        self.optional(row, parse)?.ok_or_else(|| self.place.refuse(row, "null".into(), "a text in every row".into()))
    }

    fn parsed(&self, row: usize, text: &'a str, parse: impl FnOnce(&'a str) -> std::result::Result<T, String>) -> Result<T> {
        parse(text).map_err(|expected| self.place.refuse(row, format!("{text:?}"), expected))
    }

    fn not_text(&self, row: usize) -> PlanError {
        self.place.refuse(row, "not UTF-8".into(), "text encoded as UTF-8".into())
    }
}
