import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentError, definePlugin, type Event, type Reception } from "../sdk/index.js";
import { type Loggers, systemClock } from "../tokens.js";
import { propertiesText } from "./agent-configuration.js";
import { EmbeddedAgent, topologyOf } from "./embedded-agent.js";
import { catalogueWith, ownPlugins } from "./plugin-sets.js";
import type { InjectAnswer, InjectedRequest, TestAgent, TestAgentOptions, TestLogLine } from "./test-agent.js";

/** See testAgent. */
export async function startTestAgent(options: TestAgentOptions): Promise<TestAgent> {
  const kept = new Map<string, Event[]>();
  const ours = [...(await ownPlugins()), injectSource, keepingSink(kept)];
  const read = (next: TestAgentOptions) => {
    const { config = {}, plugins = [], env = {} } = { ...options, ...next };
    const text = typeof config === "string" ? config : propertiesText(config);
    const readFile = (path: string) => readFileSync(path, "utf8");
    return topologyOf({ text, catalogue: catalogueWith(ours, plugins), env, readFile });
  };
  const topology = read({});
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "deneb-agent-")));
  const release = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  const { loggers, lines } = recordingLoggers();
  const { now } = options;
  const clock = now === undefined ? systemClock : { now: () => now.call(options) };
  const agent = new EmbeddedAgent({ topology, dataDir, loggers, clock });
  try {
    await agent.start();
  } catch (error) {
    await release();
    throw error;
  }
  let stopping: Promise<void> | undefined;
  return {
    dataDir,
    log: lines,
    inject: async (request) => answerOf(await agent.receive(requestOf(request), request.source)),
    emit: (events, source) => agent.emit(events, source),
    settled: (milliseconds = usualLimit) => settled(agent, milliseconds),
    kept: (sink) => (sink === undefined ? [...kept.values()].flat() : [...(kept.get(sink) ?? [])]),
    deadLetters: () => agent.deadLetters(),
    metrics: () => agent.metrics(),
    health: () => agent.health(),
    async reload(next) {
      const seen = lines.length;
      if (!(await agent.reload(read(next)))) throw reloadFailed(lines.slice(seen));
    },
    stop() {
      stopping ??= agent.stop().then(release, async (error: unknown) => {
        await release();
        throw error;
      });
      return stopping;
    },
  };
}

const usualLimit = 10_000;

const common = { stability: "stable", config: {} } as const;

/** A source that receives only what is injected. */
const injectSource = definePlugin({
  ...common,
  kind: "source",
  type: "inject",
  summary: "Receives what a test injects.",
  slots: { handler: "handler" },
  create: () => ({ start: async () => {}, stop: async () => {} }),
});

/** A sink that keeps its events in memory, by its name. */
function keepingSink(kept: Map<string, Event[]>) {
  return definePlugin({
    ...common,
    kind: "sink",
    type: "keep",
    summary: "Keeps events in memory for a test.",
    create: (_, { name }) => ({
      start: async () => {},
      stop: async () => {},
      async persist({ events }) {
        const before = kept.get(name) ?? [];
        for (const event of events) before.push(event);
        kept.set(name, before);
        return { requestBytes: 0, responseBytes: 0 };
      },
    }),
  });
}

function recordingLoggers(): { readonly loggers: Loggers; readonly lines: readonly TestLogLine[] } {
  const lines: TestLogLine[] = [];
  const writer = (component: string, level: TestLogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, component, message, fields });
  };
  const of = (component: string) => ({
    debug: writer(component, "debug"),
    info: writer(component, "info"),
    warn: writer(component, "warn"),
    error: writer(component, "error"),
  });
  return { lines, loggers: { of } };
}

export function requestOf({ method = "POST", path, headers = {}, body }: InjectedRequest) {
  const fields = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return {
    method: method.toUpperCase(),
    path,
    headers: { "content-type": "application/json", ...Object.fromEntries(fields) },
    body: bytesOf(body),
  };
}

function bytesOf(body: InjectedRequest["body"]): Uint8Array {
  if (body instanceof Uint8Array) return body;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}

export function answerOf(reception: Reception): InjectAnswer {
  if (reception.accepted) return { status: 200, headers: {} };
  const { status, headers, reason, cause } = reception;
  return { status, headers, reason, cause };
}

async function settled(agent: EmbeddedAgent, milliseconds: number): Promise<void> {
  if (await agent.settled(milliseconds)) return;
  const found = [...agent.waiting(), ...agent.complaints()].join("; ");
  throw new AgentError("NOT_SETTLED", `waiting ${milliseconds} ms for all events to be settled: ${found}`, {
    retryable: false,
  });
}

function reloadFailed(lines: readonly TestLogLine[]): AgentError {
  const reasons = lines.filter(({ level }) => level === "error").map(({ fields }) => Reflect.get(fields, "reason"));
  return new AgentError("RELOAD_FAILED", `reloading the agent, which goes on as before: ${reasons.join("; ")}`, {
    retryable: false,
  });
}
