//! Programs: functions of Python, translated, as they are evaluated. They come as JSON and are checked when they are read, so
//! that nothing about their form can go wrong afterwards.
//!
//! ```text
//! {"v": 1, "functions": [{"params": n, "locals": m, "body": [statement, …]}, …], "states": n}
//! ```
//!
//! The first function is the one that is called. What its parameters are, if it does not assign to them, is read where it
//! stands, in the columns of a batch ([`Expr::Input`], [`Expr::Field`], [`Expr::InputAttribute`]). A program of a function that
//! has keyed state says how many states it uses.

mod constants;
mod context;
mod depth;
mod expressions;
mod guard;
mod inline;
mod looks;
mod lookups;
mod parse;
mod patterns;
mod words;

use std::cmp::Ordering;
use std::sync::Arc;

use crate::python::patterns::{Call, Pattern};
use crate::python::{Function as Operation, Wanted};
use crate::value::Shape;

pub use crate::json::Malformed;
pub use constants::Constant;
pub(crate) use constants::is_hashable;
pub use context::{Around, Asked, Change, Domain, Part};
pub use lookups::{Lookup, Set};

/// A translated function, with those that it calls.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) functions: Arc<[Function]>,
    pub(crate) constants: Arc<[Constant]>,
    /// How many states of its key it may use.
    states: usize,
    reads_documents: bool,
}

impl Program {
    /// How many arguments it takes.
    pub fn parameters(&self) -> usize {
        self.functions[0].parameters
    }

    /// How many states of its key it may use. Where there are some it is called with a context.
    pub fn states(&self) -> usize {
        self.states
    }

    /// Which field of its only argument it gives, if it does nothing else.
    pub fn field(&self) -> Option<usize> {
        match &self.functions[0].body[..] {
            [Statement::Return(Expr::Field(0, at, _))] if self.parameters() == 1 => usize::try_from(*at).ok(),
            _ => None,
        }
    }

    /// Which field of two tuples it adds up, and how many fields it gives, if all others are those of the first tuple, at their
    /// places; or of the second one, which is allowed for the field `same`, where both have the same.
    pub fn sum_of_field(&self, same: Option<usize>) -> Option<(usize, usize)> {
        let [Statement::Return(Expr::Tuple(items))] = &self.functions[0].body[..] else { return None };
        let mut sums = None;
        for (at, item) in items.iter().enumerate() {
            match item {
                Expr::Field(from, field, _) if usize::try_from(*field) == Ok(at) && (*from == 0 || same == Some(at)) => {}
                Expr::Binary(Binary::Add, _, operands) if sums.is_none() => match &operands[..] {
                    [Expr::Field(0, left, _), Expr::Field(1, right, _)] | [Expr::Field(1, left, _), Expr::Field(0, right, _)]
                        if usize::try_from(*left) == Ok(at) && left == right =>
                    {
                        sums = Some(at);
                    }
                    _ => return None,
                },
                _ => return None,
            }
        }
        (self.parameters() == 2).then_some((sums?, items.len()))
    }

    /// Whether it reads documents of JSON.
    pub(crate) fn reads_documents(&self) -> bool {
        self.reads_documents
    }

    /// Leaves out what is not looked at in documents of JSON, if so much is looked at of what it returns, and of what it yields;
    /// what is looked at of its arguments.
    pub(crate) fn look(&mut self, result: &Wanted, yielded: &Wanted) -> Vec<Wanted> {
        looks::look(&mut self.functions, result, yielded)
    }

    /// Whether it changes lists and sets that it is given, in place.
    pub fn changes(&self) -> bool {
        self.functions.iter().any(|function| function.changes)
    }

    /// Whether it gives something that is only iterated over in Python, and is a list here.
    pub fn is_iterator(&self) -> bool {
        self.functions[0].iterator
    }
}

/// One function.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub parameters: usize,
    pub locals: usize,
    pub body: Vec<Statement>,
    pub generator: bool,
    pub iterator: bool,
    /// Whether it changes something in place.
    pub changes: bool,
    /// The parameters that are locals, as it assigns to them; of the first function only.
    pub assigned: Vec<u32>,
}

/// How a list or set is changed in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InPlace {
    Append,
    /// The same of a value that is new.
    AppendNew,
    Add,
    Put,
    /// The same of a value that is new.
    PutNew,
    /// To what is at an index something is added with `+=`.
    AddTo,
    Extend,
    Update,
}

/// Where values go.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Local(u32),
    All(Box<[Target]>),
}

#[derive(Clone, Debug)]
pub(crate) enum Statement {
    Set(Target, Expr),
    /// A local list becomes one with an item more.
    Append(u32, Expr),
    /// At an index of a local list or dict there is a value.
    Put(u32, Expr, Expr),
    /// A list or set of a heap is changed: it, and what with.
    InPlace(InPlace, Expr, Vec<Expr>),
    If(Expr, Vec<Statement>, Vec<Statement>),
    For(Target, Expr, Vec<Statement>),
    While(Expr, Vec<Statement>),
    Break,
    Continue,
    Return(Expr),
    Yield(Expr),
    /// A result for a side output, by the number of its tag.
    Side(u32, Expr),
    /// A change of the state or the timers of a key, with a value.
    Change(Change, Expr),
    /// A map state gets a value for a key.
    PutEntry(u32, Expr, Expr),
    /// Locals, from one to before another, have nothing any more.
    Forget(u32, u32),
    Doubt,
}

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Box<str>),
    /// Any other constant.
    Constant(usize),
    Local(u32),
    /// What the state of this number has for the key.
    State(u32),
    /// Whether a state has something, be it None.
    Held(u32, Asked),
    /// What a state had when it was last asked whether it has something.
    Shown(u32),
    /// What a map state has for a key, or None.
    Entry(u32, Box<Self>),
    /// Whether it has the key.
    HasEntry(u32, Box<Self>),
    /// Whether it has no keys.
    NoEntries(u32),
    /// All that is in it.
    Entries(u32, Part),
    Around(Around),
    /// A parameter of the first function, that never changes.
    Input(u32),
    /// What is at a constant place in one, and the operator for what is neither tuple nor row.
    Field(u32, i64, Operation),
    InputAttribute(u32, Box<str>),
    /// What is at a constant name in one.
    InputKey(u32, Box<str>, Operation),
    If(Box<[Self; 3]>),
    And(Box<[Self]>),
    Or(Box<[Self]>),
    Not(Box<Self>),
    Tuple(Box<[Self]>),
    List(Box<[Self]>),
    /// A set of a heap, without elements.
    NewSet,
    Dict(Box<[[Self; 2]]>),
    Row(Shape, Box<[Self]>),
    /// An object of a class, out of a tuple of its fields.
    Object(Shape, Box<Self>),
    /// What is at a constant place.
    Item(Box<Self>, i64, Operation),
    /// What is at a constant name.
    Key(Box<Self>, Box<str>, Operation),
    Attribute(Box<Self>, Box<str>),
    Binary(Binary, Operation, Box<[Self; 2]>),
    Compare(Comparison, Operation, Box<[Self; 2]>),
    Chain(Box<Self>, Box<[(Operation, Self)]>),
    /// Whether a value is in a set, or is not.
    InSet(Box<Self>, Arc<Set>, bool),
    /// What a constant dict has for a key, or instead of it; without a default a missing key is in doubt.
    Lookup(Arc<Lookup>, Box<Self>, Option<Box<Self>>),
    /// What is done with a regular expression, and a text.
    Pattern(Arc<Pattern>, Call, Box<[Self]>),
    Apply(Operation, Known, Box<[Self]>),
    /// Of a document in JSON what is looked at.
    Loads(Box<Self>, Box<Wanted>),
    Format(Box<Self>, Box<str>, Option<char>),
    Concat(Box<[Self]>),
    Each(Box<Self>, Box<[Clause]>),
    Call(usize, Box<[Self]>),
    /// A local gets a value, and then there is an expression of it.
    Let(Box<(u32, Self, Self)>),
    /// An expression of what is in a value, if there are so many items in it.
    Unpacked(Box<(Self, usize, Self)>),
    /// Items in the order of their keys, and whether that is reversed.
    Sorted(Box<Keyed>, Box<Self>),
    /// A sorted list with an item more, behind those that are equal or before them.
    Insorted(Box<Keyed>, Box<Self>, bool),
    /// The least or the greatest item, and what there is instead if there are no items.
    Extreme(Ordering, Box<Keyed>, Option<Box<Self>>),
}

/// Items, and by what they are compared, if not by themselves: an expression of a variable for an item.
#[derive(Clone, Debug)]
pub(crate) struct Keyed {
    pub items: Expr,
    pub key: Option<(Target, Expr)>,
}

/// Operations that many records at a time have a form of their own for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    Int,
    Len,
    Split,
    /// An operator that looks for something in a container; and whether it must not be there.
    In(bool),
    Index,
    /// What a dict has for a key, or something else.
    Get,
    /// Both sets or dicts as one.
    Union,
    /// The first one becomes that.
    Unite,
    /// What it gives has nothing of its arguments but what is in them.
    Copy,
    /// The same, and it only goes through them.
    Items,
    /// The same, and it gives a list of what is there.
    List,
    /// The keys of a dict.
    Keys,
    /// It asks what kind of a value something is.
    Kind,
    /// Whether it is one value, or is not.
    Is(bool),
    /// A number with the other sign.
    Neg,
    /// It asks whether something is true.
    Truth,
    /// A document of JSON is read.
    Loads,
    Other,
}

/// One `for` of a comprehension, and its conditions.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub target: Target,
    pub iterable: Expr,
    pub conditions: Vec<Expr>,
}

/// Arithmetic that is done at once where it is simple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    TrueDiv,
    FloorDiv,
    Mod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Binary {
    /// The result for two integers; `None` where it leaves 64 bits, or Python raises.
    #[inline]
    pub(crate) fn of_ints(self, left: i64, right: i64) -> Option<i64> {
        let floors = || left.wrapping_rem(right) != 0 && (left < 0) != (right < 0); // a quotient that was cut off is to be one less
        match self {
            Self::Add => left.checked_add(right),
            Self::Sub => left.checked_sub(right),
            Self::Mul => left.checked_mul(right),
            Self::FloorDiv => left.checked_div(right).map(|quotient| quotient - i64::from(floors())),
            Self::Mod => left.checked_rem(right).map(|rest| if floors() { rest + right } else { rest }),
            Self::TrueDiv => None,
        }
    }
}

impl Comparison {
    /// Whether two values compare so.
    #[inline]
    pub(crate) fn holds<T: PartialOrd + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }
}
