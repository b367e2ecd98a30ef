//! Texts a plan is printed as: Flink's streaming plan and job plan, byte for byte, and the record all of it is compared by.
//! Descriptions are read where their graph is, in `stream_graph`.

mod execution_record;
mod html4;
mod job_plan;
mod record;
mod record_types;
mod streaming_plan;

pub use job_plan::job_plan;
pub use record::plan_record;
pub use streaming_plan::streaming_plan;

/// Appends a JSON string as Jackson writes it: short escapes where there are some, upper-case hex for other controls.
fn push_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04X}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
}
