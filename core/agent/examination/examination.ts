import { connect } from "node:net";
import type { ComponentNode, Topology } from "../../configuration/topology.js";
import {
  AgentError,
  type Context,
  type Examined,
  type Examiner,
  type Lifecycle,
  onAbort,
  type Probe,
} from "../../sdk/index.js";
import type { Clock, Loggers } from "../../tokens.js";
import { atPath } from "../component.js";
import { plainContextOf } from "../component-context.js";
import { createComponent } from "../create-component.js";
import { maskedFindings } from "./masked-findings.js";
import { type Examinee, type Finding, failedResult, type ProbeRuns } from "./probe-runs.js";

interface ExaminationParts {
  readonly loggers: Loggers;
  readonly clock: Clock;
  readonly dataDir: string;
  readonly examiner: Examiner;
  readonly runs: ProbeRuns;
}

/** Tries what the components of a topology need, without starting one; the findings are in the order of the topology. */
export async function examine(topology: Topology, parts: ExaminationParts): Promise<readonly Finding[]> {
  const examined = [...sourcesOf(topology, parts), ...channelsOf(topology, parts), ...sinksOf(topology, parts)];
  return (await Promise.all(examined.map((one) => findingsOf(one, parts)))).flat();
}

type Component = Partial<Lifecycle> & Examined;

interface ExaminedNode {
  readonly node: ComponentNode;
  /** Throws when the plugin does. */
  readonly create: () => Component;
}

async function findingsOf({ node, create }: ExaminedNode, { examiner, runs }: ExaminationParts) {
  const { kind, type } = node.definition;
  const examinee = { component: node.name, kind, type };
  let component: Component;
  let probes: readonly Probe[];
  try {
    component = create();
    const own = component.probes?.(examiner);
    if (own?.length === 0) return [];
    probes = own ?? knownProbes(node, examiner);
  } catch (error) {
    return [notTried(examinee, "create the component", failedResult(error))];
  }
  if (probes.length === 0) {
    const nothing = { outcome: "skipped", reason: "its plugin has no probes" } as const;
    return kind === "sink" || kind === "source" ? [notTried(examinee, "try the component", nothing)] : [];
  }
  try {
    return maskedFindings(await runs.all(examinee, probes), node);
  } finally {
    await stopped(component);
  }
}

function notTried(examinee: Examinee, tried: string, result: Pick<Finding, "outcome" | "reason" | "remedy">): Finding {
  return { ...examinee, tried, ...result, milliseconds: 0 };
}

/** Milliseconds that a component has to close what its probes opened. */
const LONGEST_STOP = 1000;

async function stopped(component: Component): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, LONGEST_STOP);
  });
  const stop = async () => component.stop?.(AbortSignal.abort());
  await Promise.race([stop().catch(() => undefined), late]);
  clearTimeout(timer);
}

function sourcesOf(topology: Topology, parts: ExaminationParts): readonly ExaminedNode[] {
  return topology.sources.flatMap((node): readonly ExaminedNode[] => {
    const own = contextOf(node.name, topology, parts);
    const slots = Object.fromEntries(Object.keys(node.slots).map((slot) => [slot, { decode: notRunning }]));
    const source = { ...own, receive: notRunning, emit: notRunning, refused: ignored, incoming: ignored, slots };
    return [
      { node, create: () => createComponent("source", node, source) },
      ...node.interceptors.map((interceptor) => {
        const nested = atPath(node.name, interceptor);
        const context = contextOf(interceptor.name, topology, parts);
        return { node: nested, create: () => createComponent("interceptor", nested, context) };
      }),
    ];
  });
}

function channelsOf(topology: Topology, parts: ExaminationParts): readonly ExaminedNode[] {
  return topology.channels.map((node) => {
    const context = { ...contextOf(node.name, topology, parts), lockFolder: notRunning };
    return { node, create: () => createComponent("channel", node, context) };
  });
}

function sinksOf(topology: Topology, parts: ExaminationParts): readonly ExaminedNode[] {
  return topology.sinks.map((node) => {
    const context = contextOf(node.name, topology, parts);
    return { node, create: () => createComponent("sink", node, context) };
  });
}

function contextOf(name: string, { agent }: Topology, parts: ExaminationParts): Context {
  return plainContextOf(name, { ...parts, agent });
}

function notRunning(): never {
  throw new AgentError("NOT_STARTED", "using a component that is only examined", { retryable: false });
}

function ignored(): void {}

/** What the schema says of ports, folders and targets, for plugins without probes. */
function knownProbes({ definition, config }: ComponentNode, examiner: Examiner): readonly Probe[] {
  const valuesOf = (resource: string) =>
    Object.entries(definition.config).flatMap(([name, property]) =>
      property.resource === resource ? [config[name]] : [],
    );
  const [host] = valuesOf("host").filter((value) => typeof value === "string");
  const ports = valuesOf("port").flatMap((port) =>
    typeof port === "number" ? [examiner.port(port, host === undefined || host === "" ? "0.0.0.0" : host)] : [],
  );
  const folders = valuesOf("folder")
    .flat()
    .flatMap((folder) =>
      typeof folder === "string" && folder !== "" ? [examiner.folder(folder, { locked: true })] : [],
    );
  const urls = valuesOf("url").flatMap((url) => (typeof url === "string" ? reachProbes(url) : []));
  return [...ports, ...folders, ...urls];
}

/** The port of a URL that names one, or whose protocol has one. */
function reachProbes(text: string): readonly Probe[] {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const usual = new Map([
    ["http:", 80],
    ["https:", 443],
    ["mqtt:", 1883],
    ["mqtts:", 8883],
    ["redis:", 6379],
    ["nats:", 4222],
  ]);
  const port = url === undefined || url.port === "" ? usual.get(url?.protocol ?? "") : Number(url.port);
  if (url === undefined || port === undefined || url.hostname === "") return [];
  const host = url.hostname.replaceAll(/^\[|\]$/g, "");
  return [{ tries: `connect to ${url.hostname}:${port}`, run: (signal) => reached(host, port, signal) }];
}

function reached(host: string, port: number, signal: AbortSignal) {
  return new Promise<{ readonly outcome: "ok" }>((resolve, reject) => {
    const socket = connect({ host, port });
    const stopListening = onAbort(signal, () => socket.destroy(new Error("aborted")));
    socket.on("connect", () => resolve({ outcome: "ok" })).on("error", reject);
    socket.on("connect", () => socket.destroy()).on("close", stopListening);
  });
}
