//! Numbers of cells, and fields of their tuples and rows.

use bumpalo::Bump;

use super::{Cells, Data};
use crate::column::{Column, Data as Columns};
use crate::value::Value;

impl Cells {
    /// An integer, if it is one.
    #[inline]
    pub fn int(&self, index: usize) -> Option<i64> {
        match &self.data {
            Data::Ints(values) if self.absent.is_empty() || !self.absent[index] => Some(values[index]),
            _ => None,
        }
    }

    /// The integer in a field of a tuple or row, if there is one.
    #[inline]
    pub fn field_int(&self, index: usize, position: usize) -> Option<i64> {
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &self.data else { return None };
        let field = fields.get(position)?;
        if !self.absent.is_empty() && self.absent[index] { None } else { field.int(index) }
    }

    /// The same, to be replaced.
    #[inline]
    pub fn field_int_mut(&mut self, index: usize, position: usize) -> Option<&mut i64> {
        match self.present_field_mut(index, position)? {
            Data::Ints(values) => values.get_mut(index),
            _ => None,
        }
    }

    /// The float in a field of a tuple or row, if there is one, to be replaced.
    #[inline]
    pub fn field_float_mut(&mut self, index: usize, position: usize) -> Option<&mut f64> {
        match self.present_field_mut(index, position)? {
            Data::Floats(values) => values.get_mut(index),
            _ => None,
        }
    }

    #[inline]
    fn present_field_mut(&mut self, index: usize, position: usize) -> Option<&mut Data> {
        let is_absent = |cells: &Self| !cells.absent.is_empty() && cells.absent[index];
        if is_absent(self) {
            return None;
        }
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &mut self.data else { return None };
        fields.get_mut(position).filter(|field| !is_absent(field)).map(|field| &mut field.data)
    }

    /// A field of a tuple or row, if there is one.
    #[inline]
    pub fn field<'a>(&'a self, index: usize, position: usize, arena: &'a Bump) -> Option<Value<'a>> {
        let (Data::Tuples(fields) | Data::Rows(_, fields)) = &self.data else { return None };
        Some(fields.get(position)?.get(index, arena))
    }

    /// Whether these are tuples or rows as in a column, none absent, whose fields hold neither tuples nor rows.
    pub fn has_shape(&self, column: &Column) -> bool {
        self.absent.is_empty() && self.is_alike(column)
    }

    /// The same where some may be absent.
    pub fn is_alike(&self, column: &Column) -> bool {
        let fields = match (&self.data, column.data()) {
            (Data::Tuples(fields), Columns::Tuples(_)) => fields,
            (Data::Rows(shape, fields), Columns::Rows(other, _)) if shape == other => fields,
            _ => return false,
        };
        let flat = |field: &Self| !matches!(field.data, Data::Tuples(_) | Data::Rows(..));
        column.fields().is_some_and(|others| others.len() == fields.len()) && fields.iter().all(flat)
    }
}
