//! How deep the evaluation of a program can nest, calls included: the reason why it never runs out of stack.

use crate::json::{Malformed, malformed};

/// Expressions inside of each other, calls included.
pub const DEEPEST: usize = 256;

/// How deep a function is by itself, and what it calls at which depth.
#[derive(Debug, Default)]
pub struct Nesting {
    /// Its deepest expression.
    pub own: usize,
    /// The functions that it calls, and where.
    pub calls: Vec<(usize, usize)>,
}

/// Refuses functions that call each other in a circle, or nest too deeply together. O(functions · calls), as the depth of
/// each grows with every round.
pub fn check(functions: &[Nesting]) -> Result<(), Malformed> {
    let mut depths: Vec<usize> = functions.iter().map(|function| function.own).collect();
    loop {
        let mut changed = false;
        for (at, function) in functions.iter().enumerate() {
            let below = function.calls.iter().map(|&(callee, depth)| depth + 1 + depths[callee]).max().unwrap_or(0);
            if below > depths[at] {
                (depths[at], changed) = (below, true);
            }
        }
        if depths.iter().any(|&depth| depth > DEEPEST) {
            return Err(malformed("functions call each other in a circle, or nest too deeply"));
        }
        if !changed {
            return Ok(());
        }
    }
}
