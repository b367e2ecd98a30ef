//! Programs on vectors.

use std::cell::Cell;

use bumpalo::Bump;
use bumpalo::collections::Vec as Items;

use super::parts::is_full;
use super::statements::Flow;
use super::{Places, Vector};
use crate::column::Data;
use crate::machine::{Evaluation, Input, MOST_BYTES, MOST_STEPS, named_item};
use crate::program::{Constant, Expr, Known, Program, Statement};
use crate::python::{self, Function as Operation};
use crate::value::{Doubt, Shape, Value};

/// The values of the first function of a program for so many records, and how many of them are not in doubt. A generator
/// gives a list of what it yields.
pub(crate) fn evaluate<'a>(
    program: &'a Program,
    constants: &'a [Value<'a>],
    inputs: &'a [Vector<'a>],
    count: usize,
    arena: &'a Bump,
) -> (Vector<'a>, usize) {
    let function = &program.functions[0];
    if inputs.len() != function.parameters {
        return (Vector::Same(Value::None), 0);
    }
    let mut evaluator = Evaluator::new(program, constants, inputs, count, arena);
    let vector = evaluator.body(&function.body, function.generator);
    (vector, evaluator.count)
}

/// Which values Python takes for true, up to the first that is in doubt; and how many.
pub(crate) fn truths<'a>(vector: Vector<'a>, count: usize, arena: &'a Bump) -> (&'a [bool], usize) {
    let vector = vector.read(count, arena);
    let flags: &'a [bool] = match vector {
        Vector::Bools(flags) => &flags[..count],
        Vector::Ints(values) => arena.alloc_slice_fill_iter(values[..count].iter().map(|&value| value != 0)),
        Vector::Texts(values) => arena.alloc_slice_fill_iter(values[..count].iter().map(|value| !value.is_empty())),
        _ => {
            let sure: Vec<bool> = (0..count).map_while(|index| python::truth(vector.get(index, arena)).ok()).collect();
            arena.alloc_slice_copy(&sure)
        }
    };
    (flags, flags.len())
}

/// What is known while a program is evaluated.
pub(crate) struct Evaluator<'a> {
    pub(super) program: &'a Program,
    pub(super) constants: &'a [Value<'a>],
    pub(super) inputs: &'a [Vector<'a>],
    pub(super) arena: &'a Bump,
    pub(super) locals: Vec<Option<Vector<'a>>>,
    /// How many records are not in doubt so far.
    pub(super) count: usize,
    /// In how many branches the statements are that are evaluated.
    pub(super) depth: usize,
}

impl<'a> Evaluator<'a> {
    /// Of the first function of a program, for so many records.
    pub(crate) fn new(program: &'a Program, constants: &'a [Value<'a>], inputs: &'a [Vector<'a>], count: usize, arena: &'a Bump) -> Self {
        let function = &program.functions[0];
        let mut locals = vec![None; function.locals];
        for &local in &function.assigned {
            locals[local as usize] = Some(inputs[local as usize]);
        }
        Self { program, constants, inputs, arena, locals, count, depth: 0 }
    }

    /// How many records are not in doubt so far.
    pub(crate) fn sure(&self) -> usize {
        self.count
    }

    fn body(&mut self, body: &'a [Statement], generator: bool) -> Vector<'a> {
        let (count, locals) = (self.count, self.locals.clone());
        let flow = if generator { self.generator(body) } else { self.block(body) };
        match flow {
            Flow::Return(vector) => return vector,
            Flow::Next => return Vector::Same(Value::None),
            Flow::Unknown => {}
        }
        (self.count, self.locals) = (count, locals);
        self.call_rowwise()
    }

    /// A record is in doubt, and with it all behind it.
    #[inline]
    pub(super) fn doubt(&mut self, index: usize) {
        self.count = self.count.min(index);
    }

    /// The values of an expression. Recursive, as deep as the program.
    pub(crate) fn eval(&mut self, expr: &'a Expr) -> Vector<'a> {
        match expr {
            Expr::None => Vector::Same(Value::None),
            Expr::Bool(flag) => Vector::Same(Value::Bool(*flag)),
            Expr::Int(number) => Vector::Same(Value::Int(*number)),
            Expr::Float(number) => Vector::Same(Value::Float(*number)),
            Expr::Text(text) => Vector::Same(Value::Text(text)),
            Expr::Constant(number) => Vector::Same(self.constants[*number]),
            Expr::Local(local) => self.locals[*local as usize].unwrap_or_else(|| self.nothing()),
            Expr::Input(input) => self.inputs[*input as usize],
            Expr::Field(input, at, slow) => self.item(self.inputs[*input as usize], *at, *slow),
            Expr::Item(container, at, slow) => {
                let container = self.eval(container);
                self.item(container, *at, *slow)
            }
            Expr::InputAttribute(input, name) => {
                let input = self.inputs[*input as usize];
                let field = self.named(input, |shape| shape.attribute(name));
                field.unwrap_or_else(|| self.each(&[input], |_, values| python::attribute(values[0], name)))
            }
            Expr::InputKey(input, name, slow) => self.keyed(self.inputs[*input as usize], name, *slow),
            Expr::Key(container, name, slow) => {
                let container = self.eval(container);
                self.keyed(container, name, *slow)
            }
            Expr::Tuple(items) => Vector::Tuples(self.all(items)),
            Expr::Binary(binary, slow, operands) => {
                let (left, right) = (self.eval(&operands[0]), self.eval(&operands[1]));
                self.binary(*binary, *slow, left, right)
            }
            Expr::Not(operand) => self.not(operand),
            _ => self.eval_other(expr),
        }
    }

    fn eval_other(&mut self, expr: &'a Expr) -> Vector<'a> {
        match expr {
            Expr::Compare(comparison, slow, operands) => {
                let (left, right) = (self.eval(&operands[0]), self.eval(&operands[1]));
                self.compare(*comparison, *slow, left, right)
            }
            Expr::If(parts) => self.choice(expr, parts),
            Expr::Let(parts) => self.with_local(parts),
            Expr::Unpacked(parts) => self.unpacked(expr, parts),
            Expr::And(operands) => self.joined(expr, operands, false),
            Expr::Or(operands) => self.joined(expr, operands, true),
            Expr::Apply(operation, known, arguments) => self.apply(*operation, *known, arguments),
            Expr::Loads(document, wanted) => {
                let document = self.eval(document);
                self.each(&[document], |arena, values| python::loads_of(arena, values[0], wanted))
            }
            Expr::InSet(operand, set, negated) => {
                let value = self.eval(operand);
                self.each(&[value], |_, values| Ok(Value::Bool(set.contains(values[0])? != *negated)))
            }
            Expr::Lookup(lookup, key, default) => {
                let key = self.eval(key);
                let default = default.as_ref().map(|default| self.eval(default));
                let of = |arena, key| lookup.get(key).map(|value| value.map(|value: &'a Constant| value.value(arena)));
                match default {
                    None => self.each(&[key], |arena, values| of(arena, values[0])?.ok_or(Doubt)),
                    Some(default) => self.each(&[key, default], |arena, values| Ok(of(arena, values[0])?.unwrap_or(values[1]))),
                }
            }
            _ => self.rowwise(expr),
        }
    }

    fn with_local(&mut self, (local, value, body): &'a (u32, Expr, Expr)) -> Vector<'a> {
        self.locals[*local as usize] = Some(self.eval(value));
        let result = self.eval(body);
        self.locals[*local as usize] = None; // it may have fewer values than are looked at later
        result
    }

    fn unpacked(&mut self, expr: &'a Expr, (subject, count, body): &'a (Expr, usize, Expr)) -> Vector<'a> {
        match self.eval(subject).items(self.arena) {
            Some(fields) if fields.len() == *count => self.eval(body),
            _ => self.rowwise(expr),
        }
    }

    pub(super) fn all(&mut self, items: &'a [Expr]) -> &'a [Vector<'a>] {
        let vectors: Vec<Vector<'a>> = items.iter().map(|item| self.eval(item)).collect();
        self.arena.alloc_slice_copy(&vectors)
    }

    fn nothing(&mut self) -> Vector<'a> {
        self.doubt(0);
        Vector::Same(Value::None)
    }

    fn apply(&mut self, operation: Operation, known: Known, arguments: &'a [Expr]) -> Vector<'a> {
        let vectors = self.all(arguments);
        let quick = match (known, vectors) {
            (Known::Int, [one]) => self.ints(*one),
            (Known::Len, [one]) => self.lengths(*one),
            (Known::List, [container]) => container.lists(self.arena),
            (Known::Split, [text, separator]) => self.split(*text, Some(*separator)),
            (Known::Split, [text]) => self.split(*text, None),
            (Known::Copy, [container, start, end, Vector::Same(Value::None)]) => container.part(*start, *end, self.arena),
            _ => None,
        };
        quick.unwrap_or_else(|| self.each(vectors, operation))
    }

    /// What is at a constant place.
    fn item(&mut self, container: Vector<'a>, at: i64, slow: Operation) -> Vector<'a> {
        if let Some(items) = container.items(self.arena) {
            let at = if at < 0 { at + items.len() as i64 } else { at };
            let item = usize::try_from(at).ok().and_then(|at| items.get(at).copied());
            return item.unwrap_or_else(|| self.nothing());
        }
        let container = container.read(self.count, self.arena);
        if let Vector::Texts(texts) = container
            && let Some(characters) = self.characters(texts, at)
        {
            return characters;
        }
        self.each(&[container, Vector::Same(Value::Int(at))], slow)
    }

    /// A field of rows in a column.
    fn named(&self, input: Vector<'a>, position: impl Fn(&Shape) -> Option<usize>) -> Option<Vector<'a>> {
        let Vector::Column(column, places) = input else { return None };
        match column.data() {
            Data::Rows(shape, fields) if is_full(column) => Some(Vector::Column(&fields[position(shape)?], places)),
            _ => None,
        }
    }

    /// What is at a constant name.
    fn keyed(&mut self, container: Vector<'a>, name: &'a str, slow: Operation) -> Vector<'a> {
        if let Some(field) = self.named(container, |shape| shape.key(name)) {
            return field;
        }
        let place = Cell::new(0);
        self.each(&[container], |arena, values| {
            let mut at = place.get();
            let item = named_item(values[0], name, &mut at, || slow(arena, &[values[0], Value::Text(name)]));
            place.set(at);
            item
        })
    }

    fn not(&mut self, operand: &'a Expr) -> Vector<'a> {
        let operand = self.eval(operand);
        match self.truths(operand).filter(|_| !matches!(operand, Vector::Same(_))) {
            Some(truths) => Vector::Bools(self.arena.alloc_slice_fill_iter(truths.iter().map(|truth| !truth))),
            None => self.each(&[operand], |_, values| python::truth(values[0]).map(|truth| Value::Bool(!truth))),
        }
    }

    /// Whether Python takes the values for true; `None` where one of them is in doubt.
    pub(super) fn truths(&self, vector: Vector<'a>) -> Option<&'a [bool]> {
        let (flags, count) = truths(vector, self.count, self.arena);
        (count == self.count).then_some(flags)
    }

    /// `… if … else …`; both are evaluated, where neither is in doubt.
    fn choice(&mut self, expr: &'a Expr, parts: &'a [Expr; 3]) -> Vector<'a> {
        let whole = self.count;
        let vectors = self.all(parts);
        let holds = if self.count == whole { self.truths(vectors[0]) } else { None };
        match holds {
            Some(holds) => Vector::either(holds, vectors[1], vectors[2], self.arena),
            None => self.again(whole, expr),
        }
    }

    /// `and` and `or`; all operands are evaluated, where none is in doubt.
    fn joined(&mut self, expr: &'a Expr, operands: &'a [Expr], end: bool) -> Vector<'a> {
        let whole = self.count;
        let vectors = self.all(operands);
        let Some((&last, before)) = vectors.split_last().filter(|_| self.count == whole) else { return self.again(whole, expr) };
        let mut result = last;
        for &operand in before.iter().rev() {
            let Some(truths) = self.truths(operand) else { return self.again(whole, expr) };
            result = match end {
                true => Vector::either(truths, operand, result, self.arena),
                false => Vector::either(truths, result, operand, self.arena),
            };
        }
        result
    }

    /// By the machine, as if nothing had been evaluated.
    fn again(&mut self, whole: usize, expr: &'a Expr) -> Vector<'a> {
        self.count = whole;
        self.rowwise(expr)
    }

    /// An operation on the values of each record.
    pub(super) fn each(
        &mut self,
        vectors: &[Vector<'a>],
        operation: impl Fn(&'a Bump, &[Value<'a>]) -> Result<Value<'a>, Doubt>,
    ) -> Vector<'a> {
        let arena = self.arena;
        let read: Vec<Vector<'a>> = vectors.iter().map(|vector| vector.read(self.count, arena)).collect();
        let mut values = vec![Value::None; vectors.len()];
        if self.count > 0 && !read.is_empty() && read.iter().all(|vector| matches!(vector, Vector::Same(_))) {
            values.iter_mut().zip(&read).for_each(|(value, vector)| *value = vector.get(0, arena));
            return match operation(arena, &values) {
                Ok(result) if arena.allocated_bytes() <= MOST_BYTES => Vector::Same(result),
                _ => self.nothing(),
            };
        }
        let mut results = Items::with_capacity_in(self.count, arena);
        for index in 0..self.count {
            values.iter_mut().zip(&read).for_each(|(value, vector)| *value = vector.get(index, arena));
            match operation(arena, &values) {
                Ok(result) if arena.allocated_bytes() <= MOST_BYTES => results.push(result),
                _ => {
                    self.doubt(index);
                    break;
                }
            }
        }
        Vector::of(results.into_bump_slice(), arena)
    }

    /// An expression by the machine, record by record.
    fn rowwise(&mut self, expr: &'a Expr) -> Vector<'a> {
        let (arena, mut inputs) = (self.arena, Vec::new());
        let mut results = Items::with_capacity_in(self.count, arena);
        let mut evaluation = Evaluation::new(self.program, self.constants, arena);
        for index in 0..self.count {
            self.place(index, &mut inputs);
            let locals = self.locals.iter().map(|local| local.map(|vector| vector.get(index, arena)));
            match evaluation.eval(expr, &mut inputs, locals) {
                Ok(result) => results.push(result),
                Err(Doubt) => {
                    self.doubt(index);
                    break;
                }
            }
        }
        Vector::of(results.into_bump_slice(), arena)
    }

    /// The function by the machine, record by record.
    fn call_rowwise(&mut self) -> Vector<'a> {
        let (arena, mut inputs) = (self.arena, Vec::new());
        let mut results = Items::with_capacity_in(self.count, arena);
        for index in 0..self.count {
            self.place(index, &mut inputs);
            match self.program.call(self.constants, &mut inputs, arena, &mut MOST_STEPS.clone()) {
                Ok(result) => results.push(result),
                Err(Doubt) => {
                    self.doubt(index);
                    break;
                }
            }
        }
        Vector::of(results.into_bump_slice(), arena)
    }

    fn place(&self, index: usize, inputs: &mut Vec<Input<'a>>) {
        inputs.clear();
        inputs.extend(self.inputs.iter().map(|input| match *input {
            Vector::Column(column, places) => Input::Row(column, places.at(index)),
            vector => Input::Value(vector.get(index, self.arena)),
        }));
    }
}

/// Records of a column from one on.
impl<'a> From<(&'a crate::column::Column, usize)> for Vector<'a> {
    fn from((column, start): (&'a crate::column::Column, usize)) -> Self {
        Self::Column(column, Places::From(start))
    }
}
