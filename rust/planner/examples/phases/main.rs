//! One planning phase over a generated graph, for whatever measures programs: a clock, an allocator, callgrind.
//!
//! ```text
//! phases PHASE SHAPE SIZE [ROUNDS]      prints one line of JSON: seconds per round, bytes of the result, bytes at peak
//! phases list                           the phases and the shapes
//! ```
//!
//! What a phase needs is made before it. Only [`measured`] is on the clock and on callgrind's count
//! (`--toggle-collect=*measured*`). Phases `traversal` and `murmur` are no planning: they are the least any hashing of the
//! same arrays has to do. Bytes are counted in the allocator, so they are exact and need no quiet machine.

mod counting;
mod graphs;
mod phase;

use std::hint::black_box;
use std::time::Instant;

use counting::{Counting, held, peak, reset_peak};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => Ok(format!("{} of {}", phase::NAMES.join(" "), graphs::NAMES.join(" "))),
        [phase, shape, size] => run(phase, shape, size, "1"),
        [phase, shape, size, rounds] => run(phase, shape, size, rounds),
        _ => Err("usage: phases PHASE SHAPE SIZE [ROUNDS], or phases list".into()),
    };
    match result {
        Ok(line) => println!("{line}"),
        Err(message) => {
            eprintln!("{message}");
            std::process::exit(2);
        }
    }
}

fn run(phase: &str, shape: &str, size: &str, rounds: &str) -> Result<String, String> {
    let number = |text: &str| text.parse::<usize>().map_err(|error| format!("{text:?} is no number: {error}"));
    let (size, rounds) = (number(size)?, number(rounds)?);
    let mut work = phase::prepare(phase, shape, size)?;
    let (mut seconds, mut bytes) = (Vec::new(), (0, 0));
    for _ in 0..rounds {
        let before = held();
        reset_peak();
        let start = Instant::now();
        let result = measured(&mut *work);
        seconds.push(start.elapsed().as_secs_f64());
        bytes = (held() - before, peak() - before);
        drop(result);
    }
    Ok(format!(
        r#"{{"phase": "{phase}", "shape": "{shape}", "size": {size}, "seconds": {seconds:?}, "held_bytes": {}, "peak_bytes": {}}}"#,
        bytes.0, bytes.1
    ))
}

/// The only thing that is measured. A function of its own, so that callgrind finds it by name.
#[inline(never)]
fn measured(work: &mut dyn FnMut() -> phase::Outcome) -> phase::Outcome {
    black_box(work())
}
