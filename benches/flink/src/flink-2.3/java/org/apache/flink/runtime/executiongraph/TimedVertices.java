package org.apache.flink.runtime.executiongraph;

import java.util.Map;
import org.apache.flink.runtime.JobException;
import org.apache.flink.runtime.jobgraph.IntermediateDataSetID;
import org.apache.flink.runtime.jobgraph.JobVertex;
import org.apache.flink.runtime.metrics.groups.JobManagerJobMetricGroup;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.scheduler.VertexParallelismInformation;

/** Makes vertices that say when they are being connected. In Flink's package, as the factory method is open to it alone. */
public final class TimedVertices extends ExecutionJobVertex.Factory {
    private final Runnable start;
    private final Runnable stop;

    public TimedVertices(Runnable start, Runnable stop) {
        this.start = start;
        this.stop = stop;
    }

    @Override
    ExecutionJobVertex createExecutionJobVertex(
            InternalExecutionGraphAccessor graph,
            JobVertex vertex,
            VertexParallelismInformation parallelism,
            CoordinatorStore coordinators,
            JobManagerJobMetricGroup metrics)
            throws JobException {
        return new ExecutionJobVertex(graph, vertex, parallelism, coordinators, metrics) {
            @Override
            public void connectToPredecessors(Map<IntermediateDataSetID, IntermediateResult> results)
                    throws JobException {
                start.run();
                super.connectToPredecessors(results);
                stop.run();
            }
        };
    }
}
