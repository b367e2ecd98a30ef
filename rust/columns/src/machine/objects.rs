//! Lists and sets that functions change in place. What looks at one as a whole gets a copy of it, or is in doubt, so that an
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

    /// An operation on a list or set.
    pub(super) fn of_object(&self, operation: Operation, known: Known, number: u32) -> Result<Value<'a>, Doubt> {
        match known {
            Known::Len => Ok(Value::Int(self.heap()?.len(number) as i64)),
            Known::Copy => operation(self.arena, &[self.heap()?.copy(number, self.arena)?]),
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
            (Known::Index, Value::Object(number), Value::Int(at)) => return self.heap()?.item(number, at, self.arena),
            (Known::Copy | Known::In(_), ..) => {}
            _ => return Err(Doubt),
        }
        let values = [self.plain(one)?, self.plain(two)?];
        operation(self.arena, &values)
    }

    /// Changes a list or set in place.
    pub(super) fn change_object(
        &mut self,
        frame: &mut Frame<'a>,
        change: InPlace,
        object: &'a Expr,
        values: &'a [Expr],
    ) -> Result<(), Doubt> {
        let Value::Object(number) = self.eval(frame, object)? else { return Err(Doubt) };
        match (change, values) {
            (InPlace::Append, [value]) => {
                let value = self.eval(frame, value)?;
                self.heap()?.append(number, value)
            }
            (InPlace::Add, [value]) => {
                let value = self.eval(frame, value)?;
                self.heap()?.add(number, value)
            }
            (InPlace::Put, [index, value]) => {
                let (value, index) = (self.eval(frame, value)?, self.eval(frame, index)?);
                self.heap()?.put(number, index, value)
            }
            _ => Err(Doubt),
        }
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
