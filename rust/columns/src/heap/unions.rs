//! What comes out of several lists, sets or dicts: all of one in another one.

use bumpalo::Bump;

use super::{Heap, Object};
use crate::value::{Doubt, Value};

impl Heap {
    /// `one |= other`: of sets and dicts.
    pub fn unite(&mut self, one: u32, other: Value<'_>) -> Result<(), Doubt> {
        match (&self.objects[one as usize], other) {
            (Object::Set(_), Value::Object(number)) if matches!(self.objects[number as usize], Object::Set(_)) => self.update(one, other),
            (Object::Dict(_), Value::Object(number)) if matches!(self.objects[number as usize], Object::Dict(_)) => self.update(one, other),
            (Object::Dict(_), Value::Dict(_)) => self.update(one, other),
            _ => Err(Doubt),
        }
    }

    /// `one | other`, of sets.
    pub fn united(&mut self, one: u32, other: u32) -> Result<u32, Doubt> {
        let new = self.new_set()?;
        self.unite(new, Value::Object(one))?;
        self.unite(new, Value::Object(other))?;
        Ok(new)
    }

    /// `one.update(other)`.
    pub fn update(&mut self, one: u32, other: Value<'_>) -> Result<(), Doubt> {
        let is_dict = matches!(self.objects[one as usize], Object::Dict(_));
        let arena = Bump::new();
        match other {
            Value::Object(number) if number == one => Ok(()),
            Value::Object(number) => self.update(one, self.contents(number, &arena)),
            Value::Dict(entries) if is_dict => entries.iter().try_for_each(|&(key, value)| self.put(one, key, value)),
            Value::Tuple(items) | Value::List(items) if !is_dict => items.iter().try_for_each(|&element| self.add(one, element)),
            _ => Err(Doubt),
        }
    }

    /// `one.extend(other)`, of lists.
    pub fn extend(&mut self, one: u32, other: Value<'_>) -> Result<(), Doubt> {
        let arena = Bump::new();
        match other {
            Value::Object(number) if number == one || !self.is_list(number) => Err(Doubt),
            Value::Object(number) => self.extend(one, self.contents(number, &arena)),
            Value::Tuple(items) | Value::List(items) => items.iter().try_for_each(|&item| self.append(one, item)),
            _ => Err(Doubt),
        }
    }
}
