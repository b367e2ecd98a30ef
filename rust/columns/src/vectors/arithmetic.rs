//! Arithmetic and comparisons of vectors.

use bumpalo::Bump;

use super::Vector;
use super::evaluate::Evaluator;
use crate::program::{Binary, Comparison};
use crate::python::Function as Operation;
use crate::value::Value;

/// An operand of one type.
#[derive(Clone, Copy)]
enum Operand<'a, T> {
    Each(&'a [T]),
    Same(T),
}

impl<'a, T: Copy> Operand<'a, T> {
    /// Two of them, record by record.
    #[inline]
    fn zip<R: Copy>(self, other: Self, count: usize, arena: &'a Bump, operation: impl Fn(T, T) -> R) -> &'a [R] {
        match (self, other) {
            (Self::Each(left), Self::Each(right)) => {
                arena.alloc_slice_fill_iter(left[..count].iter().zip(&right[..count]).map(|(&left, &right)| operation(left, right)))
            }
            (Self::Each(left), Self::Same(right)) => arena.alloc_slice_fill_iter(left[..count].iter().map(|&left| operation(left, right))),
            (Self::Same(left), Self::Each(right)) => {
                arena.alloc_slice_fill_iter(right[..count].iter().map(|&right| operation(left, right)))
            }
            (Self::Same(left), Self::Same(right)) => arena.alloc_slice_fill_copy(count, operation(left, right)),
        }
    }

    fn at(self, index: usize) -> T {
        match self {
            Self::Each(values) => values[index],
            Self::Same(value) => value,
        }
    }
}

macro_rules! operand {
    ($name:ident, $kind:ident, $value:ident, $type:ty) => {
        fn $name<'a>(vector: Vector<'a>) -> Option<Operand<'a, $type>> {
            match vector {
                Vector::$kind(values) => Some(Operand::Each(values)),
                Vector::Same(Value::$value(value)) => Some(Operand::Same(value)),
                _ => None,
            }
        }
    };
}

operand!(ints, Ints, Int, i64);
operand!(floats, Floats, Float, f64);
operand!(texts, Texts, Text, &'a str);

impl<'a> Evaluator<'a> {
    /// An arithmetic operation.
    pub(super) fn binary(&mut self, binary: Binary, slow: Operation, left: Vector<'a>, right: Vector<'a>) -> Vector<'a> {
        let (left, right) = (left.read(self.count, self.arena), right.read(self.count, self.arena));
        if let (Some(left), Some(right)) = (ints(left), ints(right))
            && binary != Binary::TrueDiv
        {
            return self.of_ints(binary, left, right);
        }
        if let (Some(left), Some(right)) = (floats(left), floats(right)) {
            let (count, arena) = (self.count, self.arena);
            match binary {
                Binary::Add => return Vector::Floats(left.zip(right, count, arena, |left, right| left + right)),
                Binary::Sub => return Vector::Floats(left.zip(right, count, arena, |left, right| left - right)),
                Binary::Mul => return Vector::Floats(left.zip(right, count, arena, |left, right| left * right)),
                _ => {}
            }
        }
        self.each(&[left, right], slow)
    }

    fn of_ints(&mut self, binary: Binary, left: Operand<'a, i64>, right: Operand<'a, i64>) -> Vector<'a> {
        let (count, arena) = (self.count, self.arena);
        // one pass without a branch; only where something overflows, another one looks where
        let failed = std::cell::Cell::new(false);
        let note = |(result, overflow): (i64, bool)| {
            failed.set(failed.get() | overflow);
            result
        };
        let results = match binary {
            Binary::Add => left.zip(right, count, arena, |left, right| note(left.overflowing_add(right))),
            Binary::Sub => left.zip(right, count, arena, |left, right| note(left.overflowing_sub(right))),
            Binary::Mul => left.zip(right, count, arena, |left, right| note(left.overflowing_mul(right))),
            Binary::FloorDiv => {
                left.zip(right, count, arena, |left, right| note(floor_division(left, right).map_or((0, true), |pair| (pair.0, false))))
            }
            _ => left.zip(right, count, arena, |left, right| note(floor_division(left, right).map_or((0, true), |pair| (pair.1, false)))),
        };
        if failed.get() {
            let fails = |index: &usize| {
                let (left, right) = (left.at(*index), right.at(*index));
                match binary {
                    Binary::Add => left.checked_add(right).is_none(),
                    Binary::Sub => left.checked_sub(right).is_none(),
                    Binary::Mul => left.checked_mul(right).is_none(),
                    _ => floor_division(left, right).is_none(),
                }
            };
            if let Some(index) = (0..count).find(fails) {
                self.doubt(index);
            }
        }
        Vector::Ints(results)
    }

    /// A comparison.
    pub(super) fn compare(&mut self, comparison: Comparison, slow: Operation, left: Vector<'a>, right: Vector<'a>) -> Vector<'a> {
        let (count, arena) = (self.count, self.arena);
        let (left, right) = (left.read(count, arena), right.read(count, arena));
        macro_rules! compared {
            ($left:expr, $right:expr) => {
                Vector::Bools(match comparison {
                    Comparison::Eq => $left.zip($right, count, arena, |left, right| left == right),
                    Comparison::Ne => $left.zip($right, count, arena, |left, right| left != right),
                    Comparison::Lt => $left.zip($right, count, arena, |left, right| left < right),
                    Comparison::Le => $left.zip($right, count, arena, |left, right| left <= right),
                    Comparison::Gt => $left.zip($right, count, arena, |left, right| left > right),
                    Comparison::Ge => $left.zip($right, count, arena, |left, right| left >= right),
                })
            };
        }
        if let (Some(left), Some(right)) = (ints(left), ints(right)) {
            return compared!(left, right);
        }
        if let (Some(left), Some(right)) = (floats(left), floats(right)) {
            return compared!(left, right);
        }
        if let (Some(left), Some(right)) = (texts(left), texts(right)) {
            return compared!(left, right);
        }
        self.each(&[left, right], slow)
    }
}

/// Quotient and remainder as Python has them; `None` where there are none of 64 bits.
#[inline]
fn floor_division(left: i64, right: i64) -> Option<(i64, i64)> {
    let (quotient, rest) = (left.checked_div(right)?, left.checked_rem(right)?);
    Some(if rest != 0 && (rest < 0) != (right < 0) { (quotient - 1, rest + right) } else { (quotient, rest) })
}
