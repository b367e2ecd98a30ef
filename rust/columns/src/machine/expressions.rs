//! Evaluation of expressions.

use bumpalo::collections::Vec as Items;

use super::{Frame, Machine, Objects, truth};
use crate::program::{Binary, Clause, Comparison, Expr, Known, Lookup, is_hashable};
use crate::python::patterns::{Call, Pattern};
use crate::python::{self, Function as Operation, Wanted};
use crate::value::{Doubt, Shape, Value};

/// Items of tuples that are compared without being made, at the most.
const MOST_ITEMS: usize = 8;

type Evaluated<'a> = Result<Value<'a>, Doubt>;

impl<'a> Machine<'a, '_, '_> {
    /// The value of an expression. What is at hand is read where this is called.
    #[inline(always)]
    pub(super) fn eval(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Evaluated<'a> {
        match expr {
            Expr::Local(local) => frame.locals[*local as usize].ok_or(Doubt),
            Expr::Int(number) => Ok(Value::Int(*number)),
            _ => self.node(frame, expr),
        }
    }

    /// The value of any other expression. Recursive, as deep as the program; each kind is a function of its own, so that this
    /// one is short.
    #[inline(never)]
    fn node(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Evaluated<'a> {
        match expr {
            Expr::Field(input, at, slow) => self.field(*input, *at, *slow),
            Expr::Input(input) => Ok(self.input(*input)),
            Expr::Binary(binary, slow, operands) => self.binary(frame, *binary, *slow, operands),
            Expr::Compare(comparison, slow, operands) => self.compare(frame, *comparison, *slow, operands),
            Expr::Tuple(items) => self.tuple(frame, items),
            Expr::Apply(operation, known, arguments) => self.apply(frame, *operation, *known, arguments),
            Expr::Item(container, at, slow) => {
                let value = self.eval(frame, container)?;
                self.item(value, *at, *slow)
            }
            Expr::Text(text) => Ok(Value::Text(text)),
            Expr::Float(number) => Ok(Value::Float(*number)),
            Expr::None => Ok(Value::None),
            Expr::Bool(flag) => Ok(Value::Bool(*flag)),
            Expr::Constant(number) => Ok(self.constants[*number]),
            Expr::State(number) => self.state(*number),
            Expr::Around(around) => self.ask(*around),
            _ => self.eval_other(frame, expr),
        }
    }

    #[inline(never)]
    fn eval_other(&mut self, frame: &mut Frame<'a>, expr: &'a Expr) -> Evaluated<'a> {
        match expr {
            Expr::If(parts) => {
                let [condition, then, other] = &**parts;
                let branch = if self.holds(frame, condition)? { then } else { other };
                self.eval(frame, branch)
            }
            Expr::And(operands) => self.until(frame, operands, false),
            Expr::Or(operands) => self.until(frame, operands, true),
            Expr::Not(operand) => Ok(Value::Bool(!self.holds(frame, operand)?)),
            Expr::List(items) => self.list(frame, items),
            Expr::NewSet => self.heap()?.new_set().map(Value::Object),
            Expr::Dict(entries) => self.dict(frame, entries),
            Expr::Row(shape, fields) => Ok(Value::Row(shape, self.all(frame, fields)?)),
            Expr::Object(shape, fields) => object(shape, self.eval(frame, fields)?),
            Expr::InputAttribute(input, name) => self.input_attribute(*input, name),
            Expr::Attribute(object, name) => python::attribute(self.eval(frame, object)?, name),
            Expr::InputKey(input, name, slow) => self.input_key(*input, name, *slow),
            Expr::Key(container, name, slow) => {
                let value = self.eval(frame, container)?;
                self.key(value, name, *slow)
            }
            Expr::Loads(document, wanted) => self.loads(frame, document, wanted),
            Expr::Chain(first, rest) => self.chain(frame, first, rest),
            Expr::InSet(operand, set, negated) => Ok(Value::Bool(set.contains(self.eval(frame, operand)?)? != *negated)),
            Expr::Pattern(pattern, call, values) => self.pattern(frame, pattern, *call, values),
            Expr::Lookup(lookup, key, default) => self.lookup(frame, lookup, key, default.as_deref()),
            Expr::Format(operand, spec, conversion) => self.format(frame, operand, spec, *conversion),
            Expr::Concat(parts) => self.concat(frame, parts),
            Expr::Each(element, clauses) => self.comprehension(frame, element, clauses),
            Expr::Call(function, arguments) => self.call(frame, *function, arguments),
            Expr::Let(parts) => self.with_local(frame, parts),
            Expr::Unpacked(parts) => self.unpacked(frame, parts),
            Expr::Sorted(keyed, reverse) => self.sorted(frame, keyed, reverse),
            Expr::Insorted(keyed, item, behind) => self.insorted(frame, keyed, item, *behind),
            Expr::Extreme(wanted, keyed, default) => self.extreme(frame, *wanted, keyed, default.as_deref()),
            _ => self.of_state(frame, expr),
        }
    }

    fn loads(&mut self, frame: &mut Frame<'a>, document: &'a Expr, wanted: &Wanted) -> Evaluated<'a> {
        let document = self.eval(frame, document)?;
        let value = python::loads_of(self.arena, document, wanted)?;
        self.bounded().map(|()| value)
    }

    fn comprehension(&mut self, frame: &mut Frame<'a>, element: &'a Expr, clauses: &'a [Clause]) -> Evaluated<'a> {
        let mut items = Items::new_in(self.arena);
        self.each(frame, element, clauses, &mut items)?;
        self.alone(&items)?;
        Ok(Value::List(items.into_bump_slice()))
    }

    /// A list; each one is at a place of its own.
    #[inline(never)]
    fn list(&mut self, frame: &mut Frame<'a>, items: &'a [Expr]) -> Evaluated<'a> {
        if items.is_empty() {
            return Ok(Value::List(&self.arena.alloc_slice_fill_copy(1, Value::None)[..0]));
        }
        self.all(frame, items).map(Value::List)
    }

    #[inline(never)]
    fn tuple(&mut self, frame: &mut Frame<'a>, items: &'a [Expr]) -> Evaluated<'a> {
        self.all(frame, items).map(Value::Tuple)
    }

    /// All values, in the arena.
    fn all(&mut self, frame: &mut Frame<'a>, items: &'a [Expr]) -> Result<&'a [Value<'a>], Doubt> {
        let arena = self.arena;
        let values = arena.alloc_slice_fill_copy(items.len(), Value::None);
        for (value, item) in values.iter_mut().zip(items) {
            self.put_value(frame, item, value)?;
        }
        if !matches!(self.objects, Objects::None) {
            self.alone(values)?;
        }
        Ok(values)
    }

    #[inline(never)]
    fn binary(&mut self, frame: &mut Frame<'a>, binary: Binary, slow: Operation, operands: &'a [Expr; 2]) -> Evaluated<'a> {
        if let Some(number) = self.calculated(frame, binary, operands) {
            return Ok(Value::Int(number));
        }
        match (self.eval(frame, &operands[0])?, self.eval(frame, &operands[1])?) {
            (Value::Int(left), Value::Int(right)) if binary != Binary::TrueDiv => binary.of_ints(left, right).map(Value::Int).ok_or(Doubt),
            (Value::Float(left), Value::Float(right)) if matches!(binary, Binary::Add | Binary::Sub | Binary::Mul) => {
                Ok(Value::Float(match binary {
                    Binary::Add => left + right,
                    Binary::Sub => left - right,
                    _ => left * right,
                }))
            }
            (left, right) => self.slowly(slow, left, right),
        }
    }

    #[inline(never)]
    fn compare(&mut self, frame: &mut Frame<'a>, comparison: Comparison, slow: Operation, operands: &'a [Expr; 2]) -> Evaluated<'a> {
        if let Some(holds) = self.compared(frame, comparison, operands) {
            return Ok(Value::Bool(holds));
        }
        if let [Expr::Tuple(left), Expr::Tuple(right)] = operands
            && left.len() == right.len()
            && left.len() <= MOST_ITEMS
            && matches!(self.objects, Objects::None)
        {
            return self.compare_tuples(frame, comparison, slow, left, right);
        }
        match (self.eval(frame, &operands[0])?, self.eval(frame, &operands[1])?) {
            (Value::Int(left), Value::Int(right)) => Ok(Value::Bool(comparison.holds(&left, &right))),
            (Value::Float(left), Value::Float(right)) => Ok(Value::Bool(comparison.holds(&left, &right))),
            (Value::Text(left), Value::Text(right)) => Ok(Value::Bool(comparison.holds(left, right))),
            (left, right) => self.slowly(slow, left, right),
        }
    }

    /// Tuples that are there for nothing else, of as many items.
    #[inline(never)]
    fn compare_tuples(
        &mut self,
        frame: &mut Frame<'a>,
        comparison: Comparison,
        slow: Operation,
        left: &'a [Expr],
        right: &'a [Expr],
    ) -> Evaluated<'a> {
        let (mut ours, mut theirs) = ([Value::None; MOST_ITEMS], [Value::None; MOST_ITEMS]);
        for (value, expr) in ours.iter_mut().zip(left).chain(theirs.iter_mut().zip(right)) {
            self.put_value(frame, expr, value)?;
        }
        let (ours, theirs) = (&ours[..left.len()], &theirs[..right.len()]);
        for pair in ours.iter().zip(theirs) {
            return match pair {
                (Value::Int(one), Value::Int(other)) if one == other => continue,
                (Value::Text(one), Value::Text(other)) if one == other => continue,
                (Value::Int(one), Value::Int(other)) => Ok(Value::Bool(comparison.holds(one, other))),
                (Value::Text(one), Value::Text(other)) => Ok(Value::Bool(comparison.holds(one, other))),
                _ => {
                    let whole = |items| Value::Tuple(self.arena.alloc_slice_copy(items));
                    let (ours, theirs) = (whole(ours), whole(theirs));
                    self.slowly(slow, ours, theirs)
                }
            };
        }
        Ok(Value::Bool(comparison.holds(&0, &0)))
    }

    #[inline(never)]
    fn slowly(&mut self, operation: Operation, left: Value<'a>, right: Value<'a>) -> Evaluated<'a> {
        let (left, right) = (self.plain(left)?, self.plain(right)?);
        let value = operation(self.arena, &[left, right])?;
        self.bounded().map(|()| value)
    }

    #[inline(never)]
    fn apply(&mut self, frame: &mut Frame<'a>, operation: Operation, known: Known, arguments: &'a [Expr]) -> Evaluated<'a> {
        let value = match arguments {
            [one] => match self.eval(frame, one)? {
                Value::Object(number) => return self.of_object(operation, known, number),
                value => operation(self.arena, &[value]),
            },
            [one, two] => {
                let (one, two) = (self.eval(frame, one)?, self.eval(frame, two)?);
                if let (Value::Object(_), _) | (_, Value::Object(_)) = (one, two) {
                    return self.of_objects(operation, known, one, two);
                }
                return self.slowly(operation, one, two);
            }
            _ if !matches!(self.objects, Objects::None) => return self.of_many(frame, operation, known, arguments),
            _ => operation(self.arena, self.all(frame, arguments)?),
        }?;
        self.bounded().map(|()| value)
    }

    /// The first operand that is this true or false, or the last.
    fn until(&mut self, frame: &mut Frame<'a>, operands: &'a [Expr], end: bool) -> Evaluated<'a> {
        let (last, before) = operands.split_last().ok_or(Doubt)?;
        for operand in before {
            let value = self.eval(frame, operand)?;
            if self.truth(value)? == end {
                return Ok(value);
            }
        }
        self.eval(frame, last)
    }

    /// A later value of an equal key takes the place of an earlier one, whose key stays.
    fn dict(&mut self, frame: &mut Frame<'a>, entries: &'a [[Expr; 2]]) -> Evaluated<'a> {
        if entries.is_empty() {
            return Ok(Value::Dict(&self.arena.alloc_slice_fill_copy(1, (Value::None, Value::None))[..0])); // as of lists
        }
        let equal = python::operator("eq").ok_or(Doubt)?;
        let mut pairs: Items<'a, (Value<'a>, Value<'a>)> = Items::with_capacity_in(entries.len(), self.arena);
        for [key, value] in entries {
            let (key, value) = (self.eval(frame, key)?, self.eval(frame, value)?);
            self.alone(&[value])?;
            if !is_hashable(key, 16) {
                return Err(Doubt);
            }
            let mut place = None;
            for (at, (other, _)) in pairs.iter().enumerate() {
                if truth(equal(self.arena, &[*other, key])?)? {
                    place = Some(at);
                    break;
                }
            }
            match place {
                Some(at) => pairs[at].1 = value,
                None => pairs.push((key, value)),
            }
        }
        Ok(Value::Dict(pairs.into_bump_slice()))
    }

    fn chain(&mut self, frame: &mut Frame<'a>, first: &'a Expr, rest: &'a [(Operation, Expr)]) -> Evaluated<'a> {
        let mut left = self.eval(frame, first)?;
        left = self.plain(left)?;
        for (operation, operand) in rest {
            let right = self.eval(frame, operand)?;
            let right = self.plain(right)?;
            if !truth(operation(self.arena, &[left, right])?)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn pattern(&mut self, frame: &mut Frame<'a>, pattern: &'a Pattern, call: Call, values: &'a [Expr]) -> Evaluated<'a> {
        let values = self.all(frame, values)?;
        let result = pattern.call(call, values, self.arena)?;
        self.bounded().map(|()| result)
    }

    fn lookup(&mut self, frame: &mut Frame<'a>, lookup: &'a Lookup, key: &'a Expr, default: Option<&'a Expr>) -> Evaluated<'a> {
        let key = self.eval(frame, key)?;
        let default = default.map(|default| self.eval(frame, default)).transpose()?;
        lookup.get(key)?.map(|value| value.value(self.arena)).or(default).ok_or(Doubt)
    }

    fn format(&mut self, frame: &mut Frame<'a>, operand: &'a Expr, spec: &str, conversion: Option<char>) -> Evaluated<'a> {
        let value = self.eval(frame, operand)?;
        let value = self.plain(value)?;
        let text = python::format(self.arena, value, spec, conversion)?;
        self.bounded().map(|()| Value::Text(text))
    }

    fn concat(&mut self, frame: &mut Frame<'a>, parts: &'a [Expr]) -> Evaluated<'a> {
        let mut whole = bumpalo::collections::String::new_in(self.arena);
        for part in parts {
            let Value::Text(text) = self.eval(frame, part)? else { return Err(Doubt) };
            whole.push_str(text);
            self.bounded()?;
        }
        Ok(Value::Text(whole.into_bump_str()))
    }

    /// The elements of a comprehension. Recursive, as deep as its clauses.
    fn each(
        &mut self,
        frame: &mut Frame<'a>,
        element: &'a Expr,
        clauses: &'a [Clause],
        into: &mut Items<'a, Value<'a>>,
    ) -> Result<(), Doubt> {
        let Some((clause, rest)) = clauses.split_first() else {
            into.push(self.eval(frame, element)?);
            return Ok(());
        };
        'items: for &item in self.items(frame, &clause.iterable)? {
            self.step()?;
            self.assign(frame, &clause.target, item)?;
            for condition in &clause.conditions {
                if !self.holds(frame, condition)? {
                    continue 'items;
                }
            }
            self.each(frame, element, rest, into)?;
        }
        Ok(())
    }

    fn call(&mut self, frame: &mut Frame<'a>, function: usize, arguments: &'a [Expr]) -> Evaluated<'a> {
        self.step()?;
        let function = &self.functions[function];
        let mut inner = Frame::new(function.locals, self.arena);
        for (local, argument) in inner.locals.iter_mut().zip(arguments) {
            *local = Some(self.eval(frame, argument)?);
        }
        self.run(function, &mut inner)
    }
}

/// An object out of a tuple of its fields.
fn object<'a>(shape: &'a Shape, fields: Value<'a>) -> Result<Value<'a>, Doubt> {
    match fields {
        Value::Tuple(items) if shape.fits(items.len()) => Ok(Value::Row(shape, items)),
        _ => Err(Doubt),
    }
}
