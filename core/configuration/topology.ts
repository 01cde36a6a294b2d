import type { AnyPlugin } from "../sdk/index.js";
import type { SourceQuota } from "../tokens.js";

/** One component as the properties file describes it, its values validated and typed. */
export interface ComponentNode {
  readonly name: string;
  readonly definition: AnyPlugin;
  /** One typed value for each property of the definition's schema. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Nested components by slot name. */
  readonly slots: Readonly<Record<string, ComponentNode>>;
}

export interface SourceNode extends ComponentNode {
  /** Names of its channels, in the order of the file. */
  readonly channels: readonly string[];
  /** In the order of execution. */
  readonly interceptors: readonly ComponentNode[];
  /** The replicating selector when the file names none. */
  readonly selector: ComponentNode;
  /** How much it accepts of each service; absent: no service has a limit. */
  readonly quota?: SourceQuota;
}

/** How the runner feeds a sink; the properties are documented in schema/component-properties.ts. */
export interface Batching {
  /** Number of events that triggers a write. */
  readonly batchSize: number;
  /** Seconds from the first event of a batch until it is written even if it is not full. */
  readonly batchTimeout: number;
  /** Milliseconds from the first event until it is written, at most batchTimeout; absent: the default of the sink. */
  readonly batchLinger?: number;
  /** Retries after the first try; 0 none, -1 without limit. */
  readonly batchTtl: number;
  /** False when the file does not set it: then a durable channel keeps events until they are stored. Absent: true. */
  readonly batchTtlGiven?: boolean;
  /** Milliseconds before the first, second, ... retry; the last repeats. */
  readonly batchRetryIntervals: readonly number[];
  /** Seconds one write may take before the sink is stopped and started again; 0 or absent: without limit. */
  readonly persistTimeout?: number;
}

export interface SinkNode extends ComponentNode {
  readonly channel: string;
  readonly batching: Batching;
}

/** Sinks that take turns at one channel. */
export interface SinkGroupNode {
  readonly name: string;
  /** Names of its sinks, in the order of the file; all read from one channel. */
  readonly sinks: readonly string[];
  readonly processor: ComponentNode;
  /** Seconds that a start waits for sinks that cannot report what they have stored. */
  readonly positionsTimeout: number;
}

/** One agent of a properties file: its components and how they are linked. */
export interface Topology {
  readonly agent: string;
  readonly sources: readonly SourceNode[];
  readonly channels: readonly ComponentNode[];
  readonly sinks: readonly SinkNode[];
  /** A sink is in one group at most; absent: no groups. */
  readonly groups?: readonly SinkGroupNode[];
  /** Processes that receive and store, where the file says so; an option or a variable counts more. */
  readonly workers?: number;
}

/** All components of a topology, nested ones included. */
export function nodesOf({ sources, channels, sinks, groups = [] }: Omit<Topology, "agent">): readonly ComponentNode[] {
  const processors = groups.map(({ processor }) => processor);
  const attached = sources.flatMap(({ interceptors, selector }) => [...interceptors, selector]);
  return [...sources, ...attached, ...channels, ...sinks, ...processors].flatMap(withNested);
}

function withNested(node: ComponentNode): readonly ComponentNode[] {
  return [node, ...Object.values(node.slots).flatMap(withNested)];
}
