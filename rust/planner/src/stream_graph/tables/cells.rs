//! Columns as the door hands them in: where a cell is and how it is read stays there; a cell is read in place, by row.

/// Reads a cell by row; `None` is null.
pub type Cell<'a, T> = Box<dyn Fn(usize) -> Option<T> + Send + 'a>;

/// Texts by row or by code.
pub trait TextCells: Send {
    /// The text at a place; `None` is null.
    ///
    /// # Errors
    /// [`NotText`] for bytes that cannot be read as text.
    fn get(&self, at: usize) -> Result<Option<&str>, NotText>;
}

/// Bytes that are no UTF-8, or lie outside of their column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText;

/// A named column of a batch of rows.
pub struct Column<'a> {
    /// Its name; the parts of a struct are columns named `struct.part`.
    pub name: String,
    /// Its type as the caller knows it, for messages.
    pub type_name: String,
    /// Its cells.
    pub cells: Cells<'a>,
}

/// The cells of a column.
pub enum Cells<'a> {
    /// Nothing but nulls, of no type.
    Nulls,
    /// Integers of any width.
    Ints(Cell<'a, i128>),
    /// Floating-point numbers of any width.
    Floats(Cell<'a, f64>),
    /// Truth values.
    Bools(Cell<'a, bool>),
    /// Texts, row by row.
    Texts(Box<dyn TextCells + 'a>),
    /// Codes into a dictionary of texts: each is looked at once, however many rows have it.
    Coded {
        /// The code of a row.
        code: Cell<'a, i128>,
        /// The text of a code.
        text: Box<dyn TextCells + 'a>,
        /// How many texts there are.
        count: usize,
    },
    /// Anything else, which no column of a graph can be.
    Other,
}
