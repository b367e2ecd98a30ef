//! Programs out of JSON: expressions.

use std::cmp::Ordering;
use std::sync::Arc;

use serde_json::Value as Json;

use super::inline::{compared, is_place, pairwise};
use super::parse::Scope;
use super::patterns::{call_of, pattern_of};
use super::words::{at_once, comparison, conversion_of, known, operator, sought, united};
use super::{Binary, Clause, Constant, Expr, Keyed, Known, Lookup, Set};
use crate::json::{Malformed, list, malformed, number, shown, text};
use crate::python::{self, Function as Operation};
use crate::value::Shape;

type Read = Result<Expr, Malformed>;

/// Functions that go through their arguments once, and methods: to them an iterator is what a list is. (Of several arguments
/// `min` and `max` compare these instead, which are no iterators then, as Python compares none.)
const ITERATING: [&str; 14] =
    ["list", "tuple", "sorted", "sum", "min", "max", "any", "all", "enumerate", "zip", "dict", "set", "frozenset", "join"];

impl Scope<'_> {
    /// Reads an expression. Recursive, as deep as a text of JSON may be.
    pub(super) fn expr(&mut self, json: &Json) -> Read {
        let (name, rest) = list(json)?.split_first().ok_or_else(|| malformed("an expression is empty"))?;
        self.deeper()?;
        if !std::mem::take(&mut self.passing) && is_iterator(json) {
            return Err(malformed(format!("{} is only iterated over", shown(json))));
        }
        let name = text(name)?;
        let asked = self.asked(name, rest)?;
        let expr = asked.map_or_else(|| self.named(name, rest), |asked| Ok(Some(asked)))?;
        self.depth -= 1;
        expr.ok_or_else(|| malformed(format!("{} is no expression", shown(json))))
    }

    fn named(&mut self, name: &str, rest: &[Json]) -> Result<Option<Expr>, Malformed> {
        Ok(Some(match (name, rest) {
            ("local", [local]) => self.read_local(local)?,
            ("const", [constant]) => self.constant(Constant::parse(constant)?),
            ("if", [condition, then, other]) => Expr::If(Box::new([self.expr(condition)?, self.expr(then)?, self.expr(other)?])),
            ("and", [_, ..]) => Expr::And(self.all(rest)?),
            ("or", [_, ..]) => Expr::Or(self.all(rest)?),
            ("not", [operand]) => Expr::Not(Box::new(self.expr(operand)?)),
            ("tuple", items) => Expr::Tuple(self.all(items)?),
            ("list", items) => Expr::List(self.all(items)?),
            ("new_set", []) => Expr::NewSet,
            ("dict", entries) => self.dict(entries)?,
            ("row", [names, fields @ ..]) => self.row(names, fields)?,
            ("object", [class, fields]) => self.object(class, fields)?,
            ("attr", [object, attribute]) => self.attribute(object, text(attribute)?)?,
            ("slice", [_, bounds @ ..]) if bounds.len() == 3 => self.slice(rest)?,
            ("compare", [first, rest @ ..]) => self.compare(first, rest)?,
            ("index", [container, index]) => self.index(container, index)?,
            ("builtin", [name, arguments @ ..]) => self.apply(name, python::builtin, arguments)?,
            ("method", [name, values @ ..]) if !values.is_empty() => self.method(name, values)?,
            ("lib", [name, arguments @ ..]) => self.apply(name, python::library, arguments)?,
            ("pattern", [pattern, call, values @ ..]) => {
                Expr::Pattern(Arc::new(pattern_of(pattern)?), call_of(text(call)?)?, self.all(values)?)
            }
            ("format", [operand, spec, conversion]) => {
                Expr::Format(Box::new(self.expr(operand)?), text(spec)?.into(), conversion_of(text(conversion)?)?)
            }
            ("concat", parts) => Expr::Concat(self.all(parts)?),
            ("each", [element, clauses]) => self.each(element, list(clauses)?)?,
            ("call", [function, arguments @ ..]) => self.call(function, arguments, false)?,
            ("neg", [_]) => Expr::Apply(operator(name)?, Known::Neg, self.all(rest)?),
            ("pos" | "invert", [_]) => Expr::Apply(operator(name)?, Known::Other, self.all(rest)?),
            ("isinstance", [value, classes]) => self.is_instance(value, classes)?,
            ("sorted" | "insorted" | "extreme", _) => return self.by_keys(name, rest),
            (_, [left, right]) => return self.binary(name, left, right),
            _ => return Ok(None),
        }))
    }

    /// What compares items, by a key if there is one.
    fn by_keys(&mut self, name: &str, rest: &[Json]) -> Result<Option<Expr>, Malformed> {
        Ok(Some(match (name, rest) {
            ("sorted", [items, target, key, reverse]) => {
                let keyed = self.keyed(items, target, key)?;
                Expr::Sorted(Box::new(keyed), Box::new(self.expr(reverse)?))
            }
            ("insorted", [items, target, key, item, behind]) => {
                let (keyed, behind) = (self.keyed(items, target, key)?, behind.as_bool());
                let behind = behind.ok_or_else(|| malformed("an item is sorted in behind others or before"))?;
                Expr::Insorted(Box::new(keyed), Box::new(self.expr(item)?), behind)
            }
            ("extreme", [name, items, target, key, default]) => self.extreme(text(name)?, items, [target, key], default)?,
            _ => return Ok(None),
        }))
    }

    pub(super) fn all(&mut self, items: &[Json]) -> Result<Box<[Expr]>, Malformed> {
        items.iter().map(|item| self.expr(item)).collect()
    }

    fn read_local(&mut self, json: &Json) -> Read {
        if let Some(known) = self.known(json)? {
            return Ok(known);
        }
        let local = self.local(json)?;
        Ok(if self.inputs.contains(&local) { Expr::Input(local) } else { Expr::Local(local) })
    }

    fn constant(&mut self, constant: Constant) -> Expr {
        match constant {
            Constant::None => Expr::None,
            Constant::Bool(flag) => Expr::Bool(flag),
            Constant::Int(number) => Expr::Int(number),
            Constant::Float(number) => Expr::Float(number),
            Constant::Text(text) => Expr::Text(text),
            other => {
                self.constants.push(other);
                Expr::Constant(self.constants.len() - 1)
            }
        }
    }

    fn dict(&mut self, entries: &[Json]) -> Read {
        let mut pairs = Vec::with_capacity(entries.len());
        for entry in entries {
            let [key, value] = list(entry)? else { return Err(malformed("an entry of a dict is a pair")) };
            pairs.push([self.expr(key)?, self.expr(value)?]);
        }
        Ok(Expr::Dict(pairs.into()))
    }

    fn row(&mut self, names: &Json, fields: &[Json]) -> Read {
        let names: Option<Box<[Box<str>]>> = match names {
            Json::Null => None,
            names => Some(list(names)?.iter().map(|name| Ok(text(name)?.into())).collect::<Result<_, Malformed>>()?),
        };
        let shape = Shape { class: 0, names };
        let different = shape.names.iter().flatten().enumerate().all(|(at, name)| shape.position(name) == Some(at));
        if !shape.fits(fields.len()) || !different {
            return Err(malformed("a row has a name for each field, or none at all"));
        }
        Ok(Expr::Row(shape, self.all(fields)?))
    }

    /// An object of a class, out of a tuple of its fields.
    fn object(&mut self, class: &Json, fields: &Json) -> Read {
        let shape = self.classes.get(number(class)?).cloned().ok_or_else(|| malformed("there is no such class"))?;
        Ok(match self.expr(fields)? {
            Expr::Tuple(fields) if shape.fits(fields.len()) => Expr::Row(shape, fields),
            fields => Expr::Object(shape, Box::new(fields)),
        })
    }

    fn attribute(&mut self, object: &Json, name: &str) -> Read {
        Ok(match self.expr(object)? {
            Expr::Input(local) => Expr::InputAttribute(local, name.into()),
            object => Expr::Attribute(Box::new(object), name.into()),
        })
    }

    fn index(&mut self, container: &Json, index: &Json) -> Read {
        let operation = operator("index")?;
        let (container, index) = (self.expr(container)?, self.expr(index)?);
        if let Expr::Constant(number) = container
            && let Some(lookup) = self.lookup(number)
        {
            return Ok(Expr::Lookup(lookup, Box::new(index), None));
        }
        Ok(match (container, index) {
            (container, Expr::Int(at)) => at_place(container, at, operation),
            (Expr::Input(local), Expr::Text(name)) => Expr::InputKey(local, name, operation),
            (container, Expr::Text(name)) => Expr::Key(Box::new(container), name, operation),
            (container, index) => Expr::Apply(operation, Known::Index, Box::new([container, index])),
        })
    }

    /// A constant dict as one that is looked into, instead of the constant.
    fn lookup(&mut self, number: usize) -> Option<Arc<Lookup>> {
        let Constant::Dict(entries) = &self.constants[number] else { return None };
        let lookup = Lookup::of(entries)?;
        self.constants[number] = Constant::None;
        Some(Arc::new(lookup))
    }

    fn method(&mut self, name: &Json, values: &[Json]) -> Read {
        if let [dict, more @ ..] = values
            && name == "get"
            && dict[0] == "const"
            && matches!(more.len(), 1 | 2)
            && let Some(got) = self.get(dict, more)?
        {
            return Ok(got);
        }
        self.apply(name, python::method, values)
    }

    /// `….get(key)` and `….get(key, default)` of a constant dict.
    fn get(&mut self, dict: &Json, more: &[Json]) -> Result<Option<Expr>, Malformed> {
        let before = self.constants.len();
        if let Expr::Constant(number) = self.expr(dict)?
            && let Some(lookup) = self.lookup(number)
        {
            let default = more.get(1).map_or(Ok(Expr::None), |default| self.expr(default))?;
            return Ok(Some(Expr::Lookup(lookup, Box::new(self.expr(&more[0])?), Some(Box::new(default)))));
        }
        self.constants.truncate(before);
        Ok(None)
    }

    fn slice(&mut self, parts: &[Json]) -> Read {
        let part = |part: &Json| if part.is_null() { Ok(Expr::None) } else { self.expr(part) };
        Ok(Expr::Apply(operator("slice")?, Known::Copy, parts.iter().map(part).collect::<Result<_, _>>()?))
    }

    fn binary(&mut self, name: &str, left: &Json, right: &Json) -> Result<Option<Expr>, Malformed> {
        let binary = match name {
            "add" | "iadd" => Some(Binary::Add),
            "sub" => Some(Binary::Sub),
            "mul" | "imul" => Some(Binary::Mul),
            "truediv" => Some(Binary::TrueDiv),
            "floordiv" => Some(Binary::FloorDiv),
            "mod" => Some(Binary::Mod),
            "pow" | "lshift" | "rshift" | "and_" | "or_" | "xor" | "ior_" => None,
            _ => return Ok(None),
        };
        let operands = [self.expr(left)?, self.expr(right)?];
        Ok(Some(match binary {
            Some(binary) => Expr::Binary(binary, operator(name)?, Box::new(operands)),
            None => Expr::Apply(operator(name)?, united(name), Box::new(operands)),
        }))
    }

    fn compare(&mut self, first: &Json, rest: &[Json]) -> Read {
        if let [name, container] = rest
            && let Some(found) = self.in_constant(first, text(name)?, container)?
        {
            return Ok(found);
        }
        let first = self.expr(first)?;
        let (pairs, alone) = rest.as_chunks::<2>();
        if pairs.is_empty() || !alone.is_empty() {
            return Err(malformed("a comparison has an operator before each operand but the first"));
        }
        let mut chain = Vec::with_capacity(pairs.len());
        for [name, operand] in pairs {
            chain.push(self.compared(text(name)?, operand)?);
        }
        if chain.len() == 1
            && let Some((name, operand)) = chain.pop()
        {
            let operation = comparison(name)?;
            let operands = Box::new([first, operand]);
            return Ok(match at_once(name) {
                Some(comparison) => {
                    let [left, right] = *operands;
                    compared(comparison, operation, left, right)
                }
                None => Expr::Apply(operation, sought(name), operands),
            });
        }
        if chain[..chain.len() - 1].iter().all(|(_, operand)| is_place(operand)) && chain.iter().all(|(name, _)| at_once(name).is_some()) {
            return pairwise(first, chain);
        }
        let chain = chain.into_iter().map(|(name, operand)| Ok((comparison(name)?, operand)));
        Ok(Expr::Chain(Box::new(first), chain.collect::<Result<_, Malformed>>()?))
    }

    /// An operator of a chain of comparisons with its right side, a set among them.
    fn compared<'j>(&mut self, name: &'j str, operand: &Json) -> Result<(&'j str, Expr), Malformed> {
        let Some(items) = operand[1]["s"].as_array().filter(|_| operand[0] == "const") else {
            return Ok((name, self.expr(operand)?));
        };
        let name = match name {
            "in" => "in_set",
            "not_in" => "not_in_set",
            _ => return Err(malformed("a set is only looked into")),
        };
        self.constants.push(Constant::Tuple(items.iter().map(Constant::parse).collect::<Result<_, _>>()?));
        Ok((name, Expr::Constant(self.constants.len() - 1)))
    }

    fn is_instance(&mut self, value: &Json, classes: &Json) -> Read {
        let names = list(classes)?.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let classes = python::classes(names.into_iter()).ok_or_else(|| malformed(format!("{} are no classes", shown(classes))))?;
        Ok(Expr::Apply(operator("isinstance")?, Known::Kind, Box::new([self.expr(value)?, Expr::Int(classes)])))
    }

    fn keyed(&mut self, items: &Json, target: &Json, key: &Json) -> Result<Keyed, Malformed> {
        let items = self.iterable(items)?;
        let key = if key.is_null() { None } else { Some((self.target(target)?, self.expr(key)?)) };
        Ok(Keyed { items, key })
    }

    fn extreme(&mut self, name: &str, items: &Json, [target, key]: [&Json; 2], default: &Json) -> Read {
        let wanted = match name {
            "min" => Ordering::Less,
            "max" => Ordering::Greater,
            _ => return Err(malformed(format!("{name:?} is neither min nor max"))),
        };
        let keyed = self.keyed(items, target, key)?;
        let default = if default.is_null() { None } else { Some(Box::new(self.expr(default)?)) };
        Ok(Expr::Extreme(wanted, Box::new(keyed), default))
    }

    /// `… in …` of a constant set or dict; `None` for other comparisons.
    fn in_constant(&mut self, operand: &Json, name: &str, container: &Json) -> Result<Option<Expr>, Malformed> {
        let constant = Some(&container[1]).filter(|_| container[0] == "const");
        let set = constant.and_then(|constant| constant["s"].as_array());
        let dict = constant.and_then(|constant| constant["d"].as_array());
        let keys = |entries: &Vec<Json>| entries.iter().map(|entry| Constant::parse(&entry[0])).collect::<Result<Box<[_]>, _>>();
        let negated = match name {
            "in" => false,
            "not_in" => true,
            _ if set.is_some() => return Err(malformed("a set is only looked into")),
            _ => return Ok(None),
        };
        let items = match (set, dict) {
            (Some(items), _) => items.iter().map(Constant::parse).collect::<Result<_, _>>()?,
            (_, Some(entries)) => keys(entries)?,
            _ => return Ok(None),
        };
        let Some(set) = Set::of(items) else {
            return if set.is_some() { self.among(operand, name, container).map(Some) } else { Ok(None) };
        };
        Ok(Some(Expr::InSet(Box::new(self.expr(operand)?), Arc::new(set), negated)))
    }

    /// `… in …` of a constant set that has no hash table.
    fn among(&mut self, operand: &Json, name: &str, set: &Json) -> Read {
        let operand = self.expr(operand)?;
        let (name, set) = self.compared(name, set)?;
        Ok(Expr::Apply(operator(name)?, Known::Other, Box::new([operand, set])))
    }

    fn apply(&mut self, name: &Json, of: fn(&str, usize) -> Option<Operation>, values: &[Json]) -> Read {
        let name = text(name)?;
        let operation = of(name, values.len()).ok_or_else(|| malformed(format!("{name}() of {} values is not known", values.len())))?;
        let iterates = ITERATING.contains(&name);
        let again = matches!(name, "len" | "reversed"); // of what can be gone through again
        let value = |value: &Json| {
            let passes = iterates || (again && matches!(value[1].as_str(), Some("range" | "keys" | "values" | "items")));
            if passes { self.iterable(value) } else { self.expr(value) }
        };
        let known = if values.len() == 1 && matches!(name, "sum" | "min" | "max") { Known::Items } else { known(name) };
        Ok(Expr::Apply(operation, known, values.iter().map(value).collect::<Result<_, _>>()?))
    }

    fn each(&mut self, element: &Json, clauses: &[Json]) -> Read {
        let depth = self.depth;
        let mut all = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let [target, iterable, conditions] = list(clause)? else {
                return Err(malformed("a comprehension has a target, what it goes over, and conditions"));
            };
            let (target, iterable) = (self.target(target)?, self.iterable(iterable)?);
            let conditions = list(conditions)?.iter().map(|condition| self.expr(condition)).collect::<Result<_, _>>()?;
            all.push(Clause { target, iterable, conditions });
            self.deeper()?;
        }
        let element = self.expr(element)?;
        self.depth = depth;
        if all.is_empty() {
            return Err(malformed("a comprehension goes over nothing"));
        }
        Ok(Expr::Each(Box::new(element), all.into()))
    }

    pub(super) fn call(&mut self, function: &Json, arguments: &[Json], iterated: bool) -> Read {
        let function = number(function)?;
        let signature = *self.signatures.get(function).ok_or_else(|| malformed(format!("there is no function {function}")))?;
        if signature.parameters != arguments.len() {
            return Err(malformed(format!("function {function} has {} parameters", signature.parameters)));
        }
        if signature.iterator && !iterated {
            return Err(malformed("an iterator is only iterated over"));
        }
        let arguments = self.all(arguments)?;
        if !iterated && let Some(result) = self.inlined(function, &arguments) {
            return Ok(result);
        }
        self.nesting.calls.push((function, self.depth));
        Ok(Expr::Call(function, arguments))
    }
}

/// What is at a constant place.
pub(super) fn at_place(container: Expr, at: i64, operation: Operation) -> Expr {
    match container {
        Expr::Input(local) => Expr::Field(local, at, operation),
        container => Expr::Item(Box::new(container), at, operation),
    }
}

/// Whether the value of an expression is an iterator or a view in Python, where it is a list here.
pub(super) fn is_iterator(json: &Json) -> bool {
    let name = json[1].as_str().unwrap_or_default();
    matches!(json[0].as_str(), Some("builtin" | "method")) && python::is_passing(name)
}
