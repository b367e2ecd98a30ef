//! Lists, sets and dicts that functions change in place. What looks at one as a whole gets a copy of it, or is in doubt, so that an
//! operation of Python never has one before it.

use std::cell::RefMut;

use super::{Frame, Machine, Objects, truth};
use crate::heap::Heap;
use crate::program::{Expr, InPlace, Known};
use crate::python::Function as Operation;
use crate::value::{Doubt, Value};

impl<'a, 'h> Machine<'a, '_, 'h> {
    /// The lists and sets.
    pub(super) fn heap(&self) -> Result<RefMut<'h, &'h mut Heap>, Doubt> {
        match self.objects {
            Objects::Of(heap, _) => heap.try_borrow_mut().map_err(|_| Doubt),
            Objects::None => Err(Doubt),
        }
    }

    /// Doubts values that would be in two places: an object of the heap, in something else.
    #[inline]
    pub(super) fn alone(&self, values: &[Value<'a>]) -> Result<(), Doubt> {
        match self.objects {
            Objects::Of(_, false) if values.iter().any(|value| matches!(value, Value::Object(_))) => Err(Doubt),
            _ => Ok(()),
        }
    }

    /// A value for an operation whose result has nothing of it but its items.
    #[inline]
    pub(super) fn plain(&self, value: Value<'a>) -> Result<Value<'a>, Doubt> {
        if let Value::Object(number) = value { self.heap()?.copy(number, self.arena) } else { Ok(value) }
    }

    /// Whether Python takes a value for true.
    #[inline]
    pub(super) fn truth(&self, value: Value<'a>) -> Result<bool, Doubt> {
        if let Value::Object(number) = value { Ok(self.heap()?.len(number) > 0) } else { truth(value) }
    }

    /// What is gone through in a list or dict, if nothing else is in that.
    fn items_of(&self, number: u32) -> Result<Value<'a>, Doubt> {
        let items = self.heap()?.items(number, self.arena)?;
        if items.iter().any(|item| matches!(item, Value::Object(_))) { Err(Doubt) } else { Ok(Value::List(items)) }
    }

    fn gone_through(&self, value: Value<'a>) -> Result<Value<'a>, Doubt> {
        if let Value::Object(number) = value { self.items_of(number) } else { Ok(value) }
    }

    /// An operation on a list or set.
    pub(super) fn of_object(&self, operation: Operation, known: Known, number: u32) -> Result<Value<'a>, Doubt> {
        match known {
            Known::Len => Ok(Value::Int(self.heap()?.len(number) as i64)),
            Known::Copy | Known::Truth => operation(self.arena, &[self.heap()?.copy(number, self.arena)?]),
            Known::Items | Known::List => operation(self.arena, &[self.items_of(number)?]),
            Known::Keys if self.heap()?.is_dict(number) => self.items_of(number),
            _ => Err(Doubt),
        }
    }

    /// An operation on two values, one of which is a list or set.
    pub(super) fn of_objects(&self, operation: Operation, known: Known, one: Value<'a>, two: Value<'a>) -> Result<Value<'a>, Doubt> {
        match (known, one, two) {
            (Known::In(negated), value, Value::Object(number)) if !matches!(value, Value::Object(_)) => {
                if let Some(has) = self.heap()?.has(number, value)? {
                    return Ok(Value::Bool(has != negated));
                }
            }
            (Known::Index, Value::Object(number), key) => return self.heap()?.item(number, key, self.arena),
            (Known::Get, Value::Object(number), key) => return Ok(self.heap()?.get(number, key, self.arena)?.unwrap_or(Value::None)),
            (Known::Unite, Value::Object(number), other) => return self.heap()?.unite(number, other).map(|()| one),
            (Known::Union, Value::Object(number), Value::Object(other)) if self.heap()?.is_set(number) => {
                return self.heap()?.united(number, other).map(Value::Object);
            }
            (Known::Items | Known::List, ..) => return operation(self.arena, &[self.gone_through(one)?, self.gone_through(two)?]),
            (Known::Copy | Known::In(_) | Known::Union, ..) => {}
            _ => return Err(Doubt),
        }
        let values = [self.plain(one)?, self.plain(two)?];
        operation(self.arena, &values)
    }

    /// An operation on several values, one of which may be a list, set or dict.
    #[inline(never)]
    pub(super) fn of_many(
        &mut self,
        frame: &mut Frame<'a>,
        operation: Operation,
        known: Known,
        arguments: &'a [Expr],
    ) -> Result<Value<'a>, Doubt> {
        let arena = self.arena;
        let values = arena.alloc_slice_try_fill_with(arguments.len(), |index| self.eval(frame, &arguments[index]))?;
        if let (Known::Get, &[Value::Object(number), key, default]) = (known, &*values) {
            return Ok(self.heap()?.get(number, key, arena)?.unwrap_or(default));
        }
        for value in &mut *values {
            match known {
                Known::Copy => *value = self.plain(*value)?,
                Known::Items | Known::List => *value = self.gone_through(*value)?,
                _ => {}
            }
        }
        if values.iter().any(|value| matches!(value, Value::Object(_))) {
            return Err(Doubt);
        }
        operation(arena, values)
    }

    /// Changes a list, set or dict in place.
    pub(super) fn change_object(
        &mut self,
        frame: &mut Frame<'a>,
        change: InPlace,
        object: &'a Expr,
        values: &'a [Expr],
    ) -> Result<(), Doubt> {
        let Value::Object(number) = self.eval(frame, object)? else { return self.change_local(frame, change, object, values) };
        match values {
            [value] => {
                let value = self.eval(frame, value)?;
                let mut heap = self.heap()?;
                match change {
                    InPlace::Append => heap.append(number, value),
                    InPlace::AppendNew => heap.append_new(number, value),
                    InPlace::Add => heap.add(number, value),
                    InPlace::Extend => heap.extend(number, value),
                    InPlace::Update => heap.update(number, value),
                    InPlace::Put | InPlace::PutNew | InPlace::AddTo => Err(Doubt),
                }
            }
            [index, Expr::Binary(_, _, operands)] if change == InPlace::AddTo && self.is_object(frame, &operands[0])? => {
                let (old, more) = (self.eval(frame, &operands[0])?, self.eval(frame, &operands[1])?);
                let (Value::Object(inner), index) = (old, self.eval(frame, index)?) else { return Err(Doubt) };
                self.heap()?.extend(inner, more)?;
                self.heap()?.put(number, index, old)
            }
            [index, value] => {
                let (value, index) = (self.eval(frame, value)?, self.eval(frame, index)?);
                if change == InPlace::PutNew { self.heap()?.put_new(number, index, value) } else { self.heap()?.put(number, index, value) }
            }
            _ => Err(Doubt),
        }
    }

    /// The same of a list or dict that only a local has.
    fn change_local(&mut self, frame: &mut Frame<'a>, change: InPlace, object: &'a Expr, values: &'a [Expr]) -> Result<(), Doubt> {
        let Expr::Local(local) = object else { return Err(Doubt) };
        match (change, values) {
            (InPlace::Append | InPlace::AppendNew, [value]) => self.append(frame, *local, value),
            (InPlace::Put | InPlace::PutNew | InPlace::AddTo, [index, value]) => self.put(frame, *local, index, value),
            _ => Err(Doubt),
        }
    }

    fn is_object(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Result<bool, Doubt> {
        Ok(matches!(self.eval(frame, expr)?, Value::Object(_)))
    }

    /// A loop begins; see [`Heap::begin_loop`].
    #[inline]
    pub(super) fn begin_loop(&self) -> usize {
        if let Objects::Of(heap, _) = self.objects { heap.borrow_mut().begin_loop() } else { 0 }
    }

    /// What a loop goes through is known.
    #[inline]
    pub(super) fn lock(&self) {
        if let Objects::Of(heap, _) = self.objects {
            heap.borrow_mut().lock();
        }
    }

    /// A loop ends.
    #[inline]
    pub(super) fn end_loop(&self, before: usize) {
        if let Objects::Of(heap, _) = self.objects {
            heap.borrow_mut().end_loop(before);
        }
    }
}
