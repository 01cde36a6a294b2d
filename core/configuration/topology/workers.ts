import { type ConfigurationFault, errorAt } from "../configuration-fault.js";
import type { ComponentNode, SourceNode, Topology } from "../topology.js";

/** What a worker runs: all, or nothing that receives. */
interface WorkerShare {
  /** From 1. */
  readonly number: number;
  /** False: it only stores what it has. */
  readonly receives: boolean;
}

/** The components that one process of an agent runs: sources that cannot share what they listen to run in worker 1 only. */
export function topologyOfWorker(topology: Topology, { number, receives }: WorkerShare): Topology {
  const sources = receives ? topology.sources.filter((source) => number === 1 || isForEach(source)) : [];
  return { ...topology, sources };
}

/** True when more than one worker can receive. */
export function isShareable({ sources, channels }: Topology): boolean {
  return sources.some(isForEach) || channels.some(({ definition }) => definition.feeders === "others");
}

/** Why several workers cannot run the components of a topology; empty when they can. */
export function workerFaults(topology: Topology, workers: number): readonly ConfigurationFault[] {
  const { channels, sinks } = topology;
  const key = workersKey(topology, workers);
  const all = [
    ...channels.map((node) => ({ kind: "channel", node })),
    ...sinks.map((node) => ({ kind: "sink", node })),
  ];
  return all.flatMap(({ kind, node }) => {
    const reason = reasonOf(node);
    if (reason === undefined) return [];
    const why = `cannot run beside each other: ${kind} "${node.name}" ${reason}; change that, or run one worker`;
    return [errorAt({ key, value: String(workers) }, why)];
  });
}

/** What has asked for this number of workers, for messages. */
export function workersKey({ agent, workers }: Topology, number: number): string {
  return workers === number ? `${agent}.workers` : "DENEB_WORKERS or --workers";
}

function reasonOf({ definition, config }: ComponentNode): string | undefined {
  const folders = Object.keys(definition.config).filter(
    (name) => definition.config[name]?.resource === "folder" && isGiven(config[name]),
  );
  if (folders.length > 0) return `has a folder of its own (${folders.join(", ")})`;
  const runs = definition.workers?.(config);
  return typeof runs === "object" ? runs.one : undefined;
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== "";
}

function isForEach({ definition, config }: SourceNode): boolean {
  return definition.workers?.(config) === "each";
}
