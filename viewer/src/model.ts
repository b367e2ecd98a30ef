/** A plan as the page gets it: tables by column, so that 100,000 operators are few and long lists. */

/** How a column is written: its values, one value for all rows, or few distinct values and which row has which. */
export type Column = readonly unknown[] | { readonly all: unknown } | { readonly of: readonly unknown[]; readonly at: readonly number[] };

export interface Table {
  readonly rows: number;
  readonly columns: Readonly<Record<string, Column>>;
}

export interface ModelData {
  readonly name: string;
  readonly flink: string;
  readonly refused: string | null;
  /** The version of Penstock that has made the page. */
  readonly penstock: string;
  /** On a page of two plans: whether the newer one loses state of the older one. */
  readonly verdict: Verdict | null;
  /** Whether native code is used; null where only the graph is known. */
  readonly native?: "auto" | "off" | null;
  readonly operators: Table;
  readonly edges: Table;
  readonly vertices: Table;
  readonly job_edges: Table;
}

export interface Verdict {
  readonly safe: boolean;
  readonly text: string;
  readonly problems: readonly string[];
}

export interface State {
  readonly name: string;
  readonly kind: string;
  readonly types: Readonly<Record<string, string>>;
  readonly ttl: string | null;
}

/** How a function of an operator runs, or the operator itself, or whether records are columns where they come or go. */
export interface FunctionVerdict {
  readonly verdict: "native" | "compiled" | "Python";
  readonly role: "key" | "first key" | "second key" | "function" | "source" | "sink" | "operator";
  readonly function: string;
  /** Why it stays in Python, and where that is. */
  readonly reason: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly source: string;
}

/** What has become of an operator since an older plan. */
export type Status = "lost" | "moved" | "changed" | "added" | "removed" | "kept";

/** The change of an operator, as the comparison tells it; columns that only such a page has. */
export interface Change {
  readonly status: Status;
  /** What has become of it apart from its state. */
  readonly change: Exclude<Status, "lost">;
  readonly cause: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Operator {
  readonly node: number;
  readonly name: string;
  readonly kind: "source" | "sink" | "operator";
  readonly type: string;
  readonly uid: string | null;
  readonly user_hash: string | null;
  readonly operator_id: string;
  readonly origin: string;
  readonly pinned: string | null;
  readonly parallelism: number;
  readonly max_parallelism: number | null;
  readonly effective_max_parallelism: number;
  readonly vertex: number | null;
  readonly chain_index: number | null;
  readonly slot_sharing_group: string;
  readonly chaining: string;
  readonly keyed: boolean;
  readonly stateful: boolean | null;
  readonly states: readonly State[] | null;
  /** Where the program made it: null where only the graph is known. */
  readonly file: string | null;
  readonly line: number | null;
  readonly call: string | null;
  readonly description: string;
  readonly key_type?: string | null;
  readonly unknown?: string;
  /** What native code runs of it; a column that only pages of programs have. */
  readonly functions?: readonly FunctionVerdict[] | null;
  /** What has become of it since an older plan; a column that only such a page has. */
  readonly change?: Change | null;
}

export interface Edge {
  readonly source: number;
  readonly target: number;
  readonly index: number;
  readonly partitioner: string;
  readonly chained: boolean;
  readonly rule: string | null;
  readonly reason: string;
  readonly side_output: string | null;
  readonly input?: number;
}

export interface Vertex {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly operators: readonly number[];
  readonly parallelism: number;
  readonly max_parallelism: number;
  readonly slot_sharing_group: string;
  readonly resources: Readonly<Record<string, number>>;
}

export interface JobEdge {
  readonly source: number;
  readonly target: number;
  readonly ship_strategy: string;
  readonly pattern: "POINTWISE" | "ALL_TO_ALL";
  readonly result_type: string;
  readonly edge: number;
  readonly execution_edges?: number;
}

type Reader = (row: number) => unknown;

function reader(column: Column | undefined): Reader {
  if (column === undefined) return () => undefined;
  if (Array.isArray(column)) return (row) => column[row];
  if ("all" in column) return () => column.all;
  const { of, at } = column as { of: readonly unknown[]; at: readonly number[] };
  return (row) => of[at[row] ?? -1];
}

/** Rows of a table, made when they are asked for: nobody looks at all columns of 100,000 rows. */
export class Rows<T extends object> {
  readonly length: number;
  private readonly readers: ReadonlyMap<string, Reader>;
  private readonly made = new Map<number, T>();

  constructor(table: Table) {
    this.length = table.rows;
    this.readers = new Map(Object.entries(table.columns).map(([name, column]) => [name, reader(column)]));
  }

  /** Whether there is such a column. */
  has(name: string): boolean {
    return this.readers.has(name);
  }

  /** One value of one row, without making the row. */
  value<K extends keyof T & string>(row: number, name: K): T[K] {
    return this.readers.get(name)?.(row) as T[K];
  }

  /** A row as an object; kept, as who asks once asks again. */
  get(row: number): T {
    let found = this.made.get(row);
    if (found === undefined) {
      found = Object.fromEntries([...this.readers].map(([name, read]) => [name, read(row)])) as T;
      this.made.set(row, found);
    }
    return found;
  }
}

/** A plan. Operators are addressed by their row, "at", here; edges and vertices likewise. */
export class Model {
  readonly name: string;
  readonly flink: string;
  readonly refused: string | null;
  readonly penstock: string;
  readonly verdict: Verdict | null;
  readonly native: "auto" | "off" | null;
  readonly operators: Rows<Operator>;
  readonly edges: Rows<Edge>;
  readonly vertices: Rows<Vertex>;
  readonly jobEdges: Rows<JobEdge>;
  private readonly rowOfNode = new Map<number, number>();

  constructor(data: ModelData) {
    this.name = data.name;
    this.flink = data.flink;
    this.refused = data.refused;
    this.penstock = data.penstock;
    this.verdict = data.verdict;
    this.native = data.native ?? null;
    this.operators = new Rows(data.operators);
    this.edges = new Rows(data.edges);
    this.vertices = new Rows(data.vertices);
    this.jobEdges = new Rows(data.job_edges);
    for (let at = 0; at < this.operators.length; at++) this.rowOfNode.set(this.operators.value(at, "node"), at);
  }

  /** The row of the operator with that node; -1 for none. */
  at(node: number): number {
    return this.rowOfNode.get(node) ?? -1;
  }

  operator(at: number): Operator {
    return this.operators.get(at);
  }

  edge(at: number): Edge {
    return this.edges.get(at);
  }

  vertex(at: number): Vertex {
    return this.vertices.get(at);
  }
}
