//! SHA-256 over all ExecutionEdges, to compare two expansions without writing them down. O(edges) time, O(1) space.

use sha2::{Digest, Sha256};

use super::ExecutionGraph;
use crate::dense::{DataSetIndex, ExecutionVertexIndex, Index, all};

impl ExecutionGraph {
    /// Hash of `(consumer, subtask, input, producer, result, partition)` as little-endian `i32`, consumers in order.
    pub fn sha256_of_inputs(&self) -> String {
        let mut sink = Sink::default();
        for span in self.spans() {
            for partition in span.first..span.end {
                sink.put([span.consumer, span.subtask, span.input, span.producer, span.result, partition]);
            }
        }
        sink.finish()
    }

    /// Hash of `(producer, result, partition, consumer, input, subtask)` as little-endian `i32`, producers in order.
    pub fn sha256_of_consumers(&self) -> String {
        let mut sink = Sink::default();
        for producer in all::<ExecutionVertexIndex>(self.vertices.len()) {
            let expanded = self.vertex(producer);
            for (result, &data_set) in self.job.results(expanded.vertex).iter().enumerate() {
                for partition in 0..expanded.parallelism {
                    self.put_consumers(&mut sink, [producer.0, result as u32, partition], data_set);
                }
            }
        }
        sink.finish()
    }

    fn put_consumers(&self, sink: &mut Sink, [producer, result, partition]: [u32; 3], data_set: DataSetIndex) {
        for (edge, subtasks) in self.partition_consumers(data_set, partition) {
            let consumer = self.position(self.job.edge(edge).target);
            let input = self.job.input_position(edge) as u32;
            for subtask in subtasks {
                sink.put([producer, result, partition, consumer.get() as u32, input, subtask]);
            }
        }
    }
}

#[derive(Default)]
struct Sink {
    hasher: Sha256,
    buffer: Vec<u8>,
}

impl Sink {
    fn put(&mut self, record: [u32; 6]) {
        record.iter().for_each(|number| self.buffer.extend_from_slice(&number.to_le_bytes()));
        if self.buffer.len() >= 1 << 16 {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> String {
        self.hasher.update(&self.buffer);
        self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
