import { request as requestPlain } from "node:http";
import { type RequestOptions, request as requestTls } from "node:https";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { DependencyContainer } from "tsyringe";
import {
  AGENT,
  AGENT_ERASURE,
  ARRIVALS,
  agentContainer,
  DEAD_LETTER_REPLAY,
  EXPLAIN_RUNNING,
  LIVE_VIEW,
  METRICS,
  PROMETHEUS,
  READINESS,
  RELOAD,
  STATISTICS,
  VERIFIER,
} from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { type EditedText, editedMemory } from "../../core/files/edited-text.js";
import { LiveStream } from "../../core/management/live/live-stream.js";
import { type ManagementParts, managementApp } from "../../core/management/management-app.js";
import { ManagementServer } from "../../core/management/management-server.js";
import type { TlsMaterial } from "../../core/management/security/read-security.js";
import { BrokerClient } from "../../core/management/subscriptions/broker-client.js";
import { BrokerTargets } from "../../core/management/subscriptions/broker-targets.js";
import { catalogueOf } from "../../core/registry/discover.js";
import type { AnyPlugin, Sink } from "../../core/sdk/index.js";
import { CLOCK, type Clock } from "../../core/tokens.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { testLogging } from "./logging.js";
import { recordingLog } from "./recording-log.js";
import { ScriptedSink } from "./scripted-sink.js";
import { tempFolder } from "./temp-folder.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;
const quiet = { start: async () => {}, stop: async () => {} };
const sourcePlugin: AnyPlugin = { ...common, kind: "source", type: "quiet", create: () => quiet };
const selectorPlugin: AnyPlugin = {
  ...common,
  kind: "selector",
  type: "fixed",
  create: () => ({ select: () => ({ required: ["c1"], optional: [] }) }),
};
const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });

/** One quiet source, one memory channel and the given sink. */
function topologyWith(setting: ManagementSetting): Topology {
  const { sink = new ScriptedSink(), batchTtl = 3, channel = {}, channelPlugin = memoryChannel } = setting;
  const sinkPlugin: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const batching = { batchSize: 1, batchTimeout: 30, batchTtl, batchRetryIntervals: [1] };
  return {
    agent: "a",
    channels: [node("c1", channelPlugin, { capacity: 10, transactionCapacity: 10, "keep-alive": 0, ...channel })],
    sinks: [{ ...node("k1", sinkPlugin), channel: "c1", batching }],
    sources: [{ ...node("s1", sourcePlugin), channels: ["c1"], interceptors: [], selector: node("x", selectorPlugin) }],
  };
}

export interface ManagementSetting {
  readonly sink?: Sink;
  readonly batchTtl?: number;
  /** Properties of the channel that differ from the usual ones. */
  readonly channel?: Readonly<Record<string, number>>;
  /** Of the channel; that of the memory channel when absent. */
  readonly channelPlugin?: AnyPlugin;
  readonly metricsServices?: number;
  readonly clock?: Clock;
  readonly access?: Partial<ManagementParts["access"]>;
  readonly tls?: TlsMaterial;
  readonly targets?: readonly string[];
  readonly brokerTimeoutMillis?: number;
  readonly brokerCreateTimeoutMillis?: number;
  readonly verifyTls?: boolean;
  readonly nameMappings?: EditedText;
  readonly configuration?: ManagementParts["configuration"];
  readonly explaining?: ManagementParts["explaining"];
  readonly ownConfiguration?: ManagementParts["ownConfiguration"];
}

/** An agent of one source, channel and sink with its management interface, until the test ends. */
export async function runningManagement(context: TestContext, setting: ManagementSetting = {}) {
  const { log, lines } = recordingLog();
  const dataDir = await tempFolder(context);
  const container = agentContainer({
    topology: topologyWith(setting),
    dataDir,
    loggers: { of: () => log },
    watching: { stallThreshold: 60, metricsServices: setting.metricsServices ?? 1000 },
  });
  if (setting.clock !== undefined) container.register(CLOCK, { useValue: setting.clock });
  const agent = container.resolve(AGENT);
  const brokers = new BrokerClient({
    targets: new BrokerTargets(setting.targets ?? ["*"]),
    timeoutMillis: setting.brokerTimeoutMillis ?? 5000,
    createTimeoutMillis: setting.brokerCreateTimeoutMillis ?? setting.brokerTimeoutMillis ?? 5000,
    verifyTls: setting.verifyTls ?? true,
  });
  const parts = partsOf(container);
  const app = managementApp({
    ...parts,
    explaining: setting.explaining ?? parts.explaining,
    brokers,
    access: { ...openAccess, tls: setting.tls !== undefined, ...setting.access },
    logging: await testLogging(dataDir),
    nameMappings: setting.nameMappings ?? editedMemory(),
    configuration: setting.configuration,
    ownConfiguration: setting.ownConfiguration,
    catalogue: setting.ownConfiguration === undefined ? undefined : catalogueOf([]).catalogue,
    log,
  });
  const server = new ManagementServer(app, { host: "127.0.0.1", port: 0, tls: setting.tls }, log);
  server.whenStopping(() => parts.stream.end());
  await agent.start(1000);
  await server.start();
  context.after(async () => {
    await server.stop(AbortSignal.abort());
    await agent.stop(1000);
  });
  const metrics = container.resolve(METRICS);
  const { stream, arrivals } = parts;
  return {
    agent,
    app,
    arrivals,
    container,
    dataDir,
    metrics,
    lines,
    stream,
    server,
    port: server.port,
    call: caller(server.port),
  };
}

const openAccess = {
  tokens: { read: [], admin: [] },
  tls: false,
  hosts: [],
  page: true,
  bodyLimit: 1_048_576,
} as const;

/** What the interface takes from an agent, with nobody kept out and no broker allowed. */
export function partsOf(container: DependencyContainer) {
  const live = container.resolve(LIVE_VIEW);
  return {
    agent: container.resolve(AGENT),
    live,
    arrivals: container.resolve(ARRIVALS),
    explaining: container.resolve(EXPLAIN_RUNNING),
    reloads: container.resolve(RELOAD),
    stream: new LiveStream({ source: live, log: recordingLog().log }),
    version: "1.2.3.abc",
    statistics: container.resolve(STATISTICS),
    metrics: container.resolve(METRICS),
    prometheus: container.resolve(PROMETHEUS),
    readiness: container.resolve(READINESS),
    verifier: container.resolve(VERIFIER),
    erasure: container.resolve(AGENT_ERASURE),
    deadLetterReplay: container.resolve(DEAD_LETTER_REPLAY),
    brokers: new BrokerClient({
      targets: new BrokerTargets([]),
      timeoutMillis: 5000,
      createTimeoutMillis: 5000,
      verifyTls: true,
    }),
    access: openAccess,
  };
}

export interface ManagementCall {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Options of the TLS client; without them plain HTTP is spoken. */
  readonly tls?: RequestOptions;
}

/** Calls the interface; unlike fetch it sends a body with every method. */
export function caller(port: number) {
  return (method: string, path: string, { headers = {}, body, tls }: ManagementCall = {}) =>
    new Promise<{ status: number; headers: Headers; text: string; body: ReturnType<typeof JSON.parse> }>(
      (resolve, reject) => {
        const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
        const options = { host: "127.0.0.1", port, method, path, agent: false, headers: { ...headers, ...length } };
        const outgoing = tls === undefined ? requestPlain(options) : requestTls({ ...options, ...tls });
        outgoing.on("error", reject);
        outgoing.on("response", (response) => {
          const answered = new Headers(
            Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string]),
          );
          text(response).then((content) => {
            const status = response.statusCode ?? 0;
            resolve({ status, headers: answered, text: content, body: jsonOf(content) });
          }, reject);
        });
        outgoing.end(body);
      },
    );
}

function jsonOf(content: string) {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}
