//! Programs out of JSON: functions and statements.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::depth::{self, DEEPEST, Nesting};
use super::expressions::is_iterator;
use super::inline::{Inlined, MOST_TOGETHER};
use super::{Constant, Expr, Function, InPlace, Program, Statement, Target};
use crate::json::{Malformed, list, malformed, number, parse, shown, text};
use crate::python::Wanted;
use crate::value::Shape;

/// Most functions of a program, and most locals of a function.
const MOST: usize = 1 << 12;

/// What a call of a function needs to know of it.
#[derive(Clone, Copy)]
pub(super) struct Signature {
    pub parameters: usize,
    pub generator: bool,
    /// Whether what it gives is only iterated over.
    pub iterator: bool,
    /// Whether it has a `return`.
    pub returns: bool,
}

/// The functions of a program, as they come.
#[derive(Clone, Copy)]
struct Declared<'s> {
    functions: &'s [Json],
    signatures: &'s [Signature],
    states: usize,
    classes: &'s [Shape],
}

impl Program {
    /// Reads and checks a program that makes no objects.
    pub fn parse(text: &str) -> Result<Self, Malformed> {
        Self::parse_with(text, &[])
    }

    /// Reads and checks a program; `classes`: those whose objects it makes, by the number that they have in it.
    pub fn parse_with(text: &str, classes: &[Shape]) -> Result<Self, Malformed> {
        let json = parse(text)?;
        if json["v"] != 1 {
            return Err(malformed("the version of the program is not 1"));
        }
        let functions = list(&json["functions"])?;
        if functions.is_empty() || functions.len() > MOST {
            return Err(malformed(format!("there are {} functions", functions.len())));
        }
        let states = if json["states"].is_null() { 0 } else { number(&json["states"])? };
        if states > MOST {
            return Err(malformed(format!("there are {states} states")));
        }
        let signatures: Vec<Signature> = functions.iter().map(signature).collect::<Result<_, _>>()?;
        let declared = Declared { functions, signatures: &signatures, states, classes };
        let mut constants = Vec::new();
        let (mut all, mut nestings) = (Vec::new(), Vec::new());
        for (at, function) in functions.iter().enumerate() {
            let (function, nesting) = read(function, at, declared, &mut constants)?;
            all.push(function);
            nestings.push(nesting);
        }
        depth::check(&nestings)?;
        let reads_documents = text.contains("json.loads");
        let mut program = Self { functions: all.into(), constants: constants.into(), states, reads_documents };
        if reads_documents {
            program.look(&Wanted::All, &Wanted::All);
        }
        Ok(program)
    }
}

fn signature(function: &Json) -> Result<Signature, Malformed> {
    let (parameters, locals) = (number(&function["params"])?, number(&function["locals"])?);
    if parameters > locals || locals > MOST {
        return Err(malformed(format!("a function has {parameters} parameters and {locals} locals")));
    }
    let body = list(&function["body"])?;
    let generator = any(body, &|statement| statement[0] == "yield");
    let iterator = generator || any(body, &|statement| statement[0] == "return" && is_iterator(&statement[1]));
    let returns = any(body, &|statement| statement[0] == "return");
    Ok(Signature { parameters, generator, iterator, returns })
}

/// Whether some statement is so. Recursive, as deep as a text of JSON may be.
fn any(body: &[Json], is: &dyn Fn(&Json) -> bool) -> bool {
    let nested = |json: &Json| json.as_array().is_some_and(|body| any(body, is));
    body.iter().any(|statement| match statement[0].as_str() {
        _ if is(statement) => true,
        Some("if") => nested(&statement[2]) || nested(&statement[3]),
        Some("for") => nested(&statement[3]),
        Some("while") => nested(&statement[2]),
        _ => false,
    })
}

/// Reads a function; the first one once more when it is known which parameters it assigns to.
fn read(json: &Json, at: usize, declared: Declared<'_>, constants: &mut Vec<Constant>) -> Result<(Function, Nesting), Malformed> {
    let Signature { parameters, generator, iterator, .. } = declared.signatures[at];
    let (before, locals, body) = (constants.len(), number(&json["locals"])?, list(&json["body"])?);
    let mut scope = Scope::new(declared, locals, generator, constants);
    let mut statements = scope.block(body)?;
    let assigned: Vec<u32> = scope.assigned.iter().copied().filter(|&local| (local as usize) < parameters).collect();
    let (mut nesting, mut all) = (scope.nesting, locals + scope.more);
    if at == 0 {
        constants.truncate(before);
        let mut scope = Scope::new(declared, locals, generator, constants);
        scope.inputs = (0..parameters as u32).filter(|local| !assigned.contains(local)).collect();
        statements = scope.block(body)?;
        (nesting, all) = (scope.nesting, locals + scope.more);
    }
    let changes = any(body, &|statement| statement[0] == "change");
    Ok((Function { parameters, locals: all, body: statements, generator, iterator, changes, assigned }, nesting))
}

/// What is known while a function is read.
pub(super) struct Scope<'s> {
    pub functions: &'s [Json],
    pub signatures: &'s [Signature],
    pub constants: &'s mut Vec<Constant>,
    /// Parameters that are read where they stand.
    pub inputs: BTreeSet<u32>,
    pub nesting: Nesting,
    pub depth: usize,
    /// Whether the expression that is read next may be an iterator or a view in Python.
    pub passing: bool,
    pub states: usize,
    /// Those whose objects it makes.
    pub classes: &'s [Shape],
    pub own_locals: usize,
    /// Locals of functions that are read in the place of their calls.
    pub more: usize,
    /// These functions, from the outermost.
    pub within: Vec<Inlined>,
    /// How large others may be together.
    pub room: usize,
    pub generator: bool,
    assigned: BTreeSet<u32>,
    pub loops: usize,
}

impl<'s> Scope<'s> {
    fn new(declared: Declared<'s>, own_locals: usize, generator: bool, constants: &'s mut Vec<Constant>) -> Self {
        let Declared { functions, signatures, states, classes } = declared;
        Self {
            functions,
            signatures,
            constants,
            inputs: BTreeSet::new(),
            nesting: Nesting::default(),
            depth: 0,
            passing: false,
            states,
            classes,
            own_locals,
            more: 0,
            within: Vec::new(),
            room: MOST_TOGETHER,
            generator,
            assigned: BTreeSet::new(),
            loops: 0,
        }
    }

    /// Goes one deeper.
    pub(super) fn deeper(&mut self) -> Result<(), Malformed> {
        self.depth += 1;
        self.nesting.own = self.nesting.own.max(self.depth);
        if self.depth > DEEPEST { Err(malformed("the program nests too deeply")) } else { Ok(()) }
    }

    pub(super) fn block(&mut self, body: &[Json]) -> Result<Vec<Statement>, Malformed> {
        self.deeper()?;
        let mut statements = Vec::with_capacity(body.len());
        for statement in body {
            match self.inlined_block(statement)? {
                Some(inlined) => statements.extend(inlined),
                None => statements.push(self.statement(list(statement)?)?),
            }
        }
        self.depth -= 1;
        Ok(statements)
    }

    fn repeated(&mut self, body: &Json) -> Result<Vec<Statement>, Malformed> {
        self.loops += 1;
        let body = self.block(list(body)?);
        self.loops -= 1;
        body
    }

    fn statement(&mut self, json: &[Json]) -> Result<Statement, Malformed> {
        let (name, rest) = json.split_first().ok_or_else(|| malformed("a statement is empty"))?;
        Ok(match (text(name)?, rest) {
            ("set", [target, value]) => Statement::Set(self.target(target)?, self.expr(value)?),
            ("append", [list, value]) => Statement::Append(self.changed(list)?, self.expr(value)?),
            ("put", [local, index, value]) => Statement::Put(self.changed(local)?, self.expr(index)?, self.expr(value)?),
            ("change", [name, object, values @ ..]) => self.in_place(text(name)?, object, values)?,
            ("if", [condition, then, other]) => Statement::If(self.expr(condition)?, self.block(list(then)?)?, self.block(list(other)?)?),
            ("for", [target, iterable, body]) => Statement::For(self.target(target)?, self.iterable(iterable)?, self.repeated(body)?),
            ("while", [condition, body]) => Statement::While(self.expr(condition)?, self.repeated(body)?),
            ("break", []) if self.loops > 0 => Statement::Break,
            ("continue", []) if self.loops > 0 => Statement::Continue,
            ("return", [value]) if value[0] == "call" => Statement::Return(self.expr(value)?),
            ("return", [value]) => Statement::Return(self.iterable(value)?),
            ("yield", [value]) if self.generator => Statement::Yield(self.expr(value)?),
            ("doubt", []) => Statement::Doubt,
            (name, _) => {
                let malformed = || malformed(format!("{name:?} is no statement with {} parts here", rest.len()));
                return self.change(name, rest)?.ok_or_else(malformed);
            }
        })
    }

    fn in_place(&mut self, name: &str, object: &Json, values: &[Json]) -> Result<Statement, Malformed> {
        let change = match (name, values) {
            ("append", [_]) => InPlace::Append,
            ("append_new", [_]) => InPlace::AppendNew,
            ("add", [_]) => InPlace::Add,
            ("put", [_, value]) if value[0] == "iadd" => InPlace::AddTo,
            ("put", [_, _]) => InPlace::Put,
            ("put_new", [_, _]) => InPlace::PutNew,
            ("extend", [_]) => InPlace::Extend,
            ("update", [_]) => InPlace::Update,
            (name, values) => return Err(malformed(format!("{name:?} with {} values changes nothing", values.len()))),
        };
        if object[0] == "local" && self.known(&object[1])?.is_none() {
            self.changed(&object[1])?; // it may be a list by itself
        }
        Ok(Statement::InPlace(change, self.expr(object)?, values.iter().map(|value| self.expr(value)).collect::<Result<_, _>>()?))
    }

    pub(super) fn target(&mut self, json: &Json) -> Result<Target, Malformed> {
        match json {
            Json::Array(targets) => Ok(Target::All(targets.iter().map(|target| self.target(target)).collect::<Result<_, _>>()?)),
            _ => Ok(Target::Local(self.changed(json)?)),
        }
    }

    /// A local that gets another value.
    fn changed(&mut self, json: &Json) -> Result<u32, Malformed> {
        if self.known(json)?.is_some() {
            return Err(malformed(format!("the parameter {} gets another value", shown(json))));
        }
        let local = self.local(json)?;
        self.assigned.insert(local);
        Ok(local)
    }

    /// What is known of a local of a function that is read in the place of its call.
    pub(super) fn known(&self, json: &Json) -> Result<Option<Expr>, Malformed> {
        let Some(inlined) = self.within.last() else { return Ok(None) };
        Ok(u32::try_from(number(json)?).ok().and_then(|local| inlined.known.get(&local).cloned()))
    }

    pub(super) fn local(&self, json: &Json) -> Result<u32, Malformed> {
        let (local, first, locals) = match self.within.last() {
            Some(inlined) => (number(json)?, inlined.base, inlined.locals),
            None => (number(json)?, 0, self.own_locals),
        };
        if local < locals { Ok(first + local as u32) } else { Err(malformed(format!("there is no local {local}"))) }
    }

    /// What a loop goes over: also what a generator yields.
    pub(super) fn iterable(&mut self, json: &Json) -> Result<Expr, Malformed> {
        match json.as_array().map(Vec::as_slice) {
            Some([name, function, arguments @ ..]) if name == "call" => self.call(function, arguments, true),
            _ => {
                self.passing = is_iterator(json);
                self.expr(json)
            }
        }
    }
}
