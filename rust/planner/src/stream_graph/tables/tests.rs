use super::*;
use crate::stream_graph::Settings;

fn ints(values: &[Option<i128>]) -> Cells<'_> {
    Cells::Ints(Box::new(|row| values[row]))
}

/// Texts, one after the other; the end of them is no text.
struct Listed(&'static [Option<&'static str>]);

impl TextCells for Listed {
    fn get(&self, at: usize) -> std::result::Result<Option<&str>, NotText> {
        self.0.get(at).copied().ok_or(NotText)
    }
}

fn texts(values: &'static [Option<&'static str>]) -> Cells<'static> {
    Cells::Texts(Box::new(Listed(values)))
}

fn coded(code: fn(usize) -> i128, values: &'static [Option<&'static str>], count: usize) -> Cells<'static> {
    Cells::Coded { code: Box::new(move |row| Some(code(row))), text: Box::new(Listed(values)), count }
}

fn column<'a>(name: &str, cells: Cells<'a>) -> Column<'a> {
    Column { name: name.into(), type_name: "Test".into(), cells }
}

fn reader() -> TableReader {
    TableReader::new(StreamGraphBuilder::new(Settings::default()))
}

fn two_nodes(reader: &mut TableReader) -> Result<()> {
    let columns = [
        column("id", ints(&[Some(7), Some(9)])),
        column("name", texts(&[Some("A"), Some("B")])),
        column("kind", coded(|row| row as i128, &[Some("source"), Some("sink")], 2)),
    ];
    reader.add_nodes(&columns, 2)
}

#[test]
fn tables_in_batches_make_a_graph() {
    let mut reader = reader();
    two_nodes(&mut reader).unwrap();
    let nodes = [column("kind", texts(&[Some("operator")])), column("id", ints(&[Some(8)])), column("name", texts(&[Some("C")]))];
    reader.add_nodes(&nodes, 1).unwrap();
    for (source, target) in [(7, 8), (8, 9)] {
        let ends = [Some(source), Some(target)];
        reader.add_edges(&[column("source", ints(&ends[..1])), column("target", ints(&ends[1..]))], 1).unwrap();
    }
    let graph = reader.build().unwrap();
    assert_eq!((graph.node_count(), graph.edge_count(), graph.verify().len()), (3, 2, 0));
    assert_eq!(graph.label(crate::dense::NodeIndex(2)), "C-8");
}

#[test]
fn rows_are_counted_over_batches() {
    let mut reader = reader();
    two_nodes(&mut reader).unwrap();
    let error = two_nodes(&mut reader).unwrap_err();
    assert!(error.to_string().starts_with("row 2 of the nodes table: node id 7 is used twice"), "{error}");
}

#[test]
fn codes_and_bytes_from_outside_are_not_trusted() {
    for (cells, message) in [
        (coded(|_| 2, &[None, None], 2), "the dictionary code 2, expected a code from 0 to 1"),
        (coded(|_| -1, &[], 0), "the dictionary code -1"),
        (coded(|_| 0, &[], 1), "not UTF-8"),
        (texts(&[]), "not UTF-8"),
        (texts(&[None]), "is null, expected a text"),
        (Cells::Nulls, "is null, expected a text"),
        (Cells::Other, "the nodes table: column \"name\" is of type Test, expected texts"),
    ] {
        let columns = [column("id", ints(&[Some(1)])), column("kind", texts(&[Some("sink")])), column("name", cells)];
        let error = reader().add_nodes(&columns, 1).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn an_end_of_a_loop_needs_its_loop() {
    let mut reader = reader();
    let columns = [column("id", ints(&[Some(-1)])), column("kind", texts(&[Some("iteration_head")])), column("name", texts(&[Some("x")]))];
    reader.add_nodes(&columns, 1).unwrap();
    let error = reader.build().unwrap_err().to_string();
    assert!(error.contains("row 0 of the nodes table") && error.contains("source_id -1"), "{error}");
}
