import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { BenchCase } from "./case.js";
import { embeddedStore } from "./embedded-store.js";
import { notificationBodies } from "./notifications.js";
import { type ServerProcess, startServer } from "./server-process.js";
import { type BenchStore, postgresqlStore } from "./store.js";

/** A system under load, started and ready. */
export interface SystemUnderTest {
  readonly notifyUrl: string;
  readonly pid: number;
  /** Milliseconds from the start of the process to its first answer 200. */
  readonly startMilliseconds: number;
  /** Undefined where nothing is stored. */
  readonly store: BenchStore | undefined;
  /** Events that the agent says it has stored; undefined where there is no agent to ask. */
  readonly persisted: (() => Promise<number>) | undefined;
  stop(): Promise<void>;
}

export async function startSystem(bench: BenchCase): Promise<SystemUnderTest> {
  return await starters[bench.system](bench);
}

const starters = { agent: startAgent, "by-hand": startByHand, "bare-http": startBareHttp } satisfies Record<
  BenchCase["system"],
  (bench: BenchCase) => Promise<SystemUnderTest>
>;

async function startAgent(bench: BenchCase): Promise<SystemUnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
  const store = bench.dialect === "sqlite" ? embeddedStore(path.join(folder, "data")) : await postgresqlStore();
  const file = path.join(folder, "agent.properties");
  await writeFile(file, propertiesOf(bench, store));
  const started = performance.now();
  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const server = await startServer(
    [scriptAt("../../core/main.js"), "run", ...flags, "--log-level", "info"],
    portReader(),
  );
  const notifyUrl = `http://127.0.0.1:${server.ready["http-source"]}/notify`;
  const statisticsUrl = `http://127.0.0.1:${server.ready["management"]}/v1/stats`;
  await firstAnswer(notifyUrl, bench);
  return {
    notifyUrl,
    pid: server.pid,
    startMilliseconds: performance.now() - started,
    store,
    persisted: async () => {
      const response = await fetch(statisticsUrl);
      const { stats } = JSON.parse(await response.text());
      return Number(stats.sinks[0].num_persisted_events);
    },
    stop: () => end(server, store, folder),
  };
}

async function startByHand(bench: BenchCase): Promise<SystemUnderTest> {
  const store = await postgresqlStore();
  const {
    rdb_host: host,
    rdb_port: port,
    rdb_username: user,
    rdb_password: password,
    rdb_database: database,
  } = store.properties;
  const started = performance.now();
  const connection = JSON.stringify({ host, port: Number(port), user, password, database });
  const server = await startServer([scriptAt("./by-hand-server.js"), connection], portLine);
  const notifyUrl = `http://127.0.0.1:${server.ready["port"]}/notify`;
  await firstAnswer(notifyUrl, bench);
  const startMilliseconds = performance.now() - started;
  return { notifyUrl, pid: server.pid, startMilliseconds, store, persisted: undefined, stop: () => end(server, store) };
}

async function startBareHttp(bench: BenchCase): Promise<SystemUnderTest> {
  const started = performance.now();
  const server = await startServer([scriptAt("./bare-http-server.js")], portLine);
  const notifyUrl = `http://127.0.0.1:${server.ready["port"]}/notify`;
  await firstAnswer(notifyUrl, bench);
  const startMilliseconds = performance.now() - started;
  return { notifyUrl, pid: server.pid, startMilliseconds, store: undefined, persisted: undefined, stop: server.stop };
}

async function end(server: ServerProcess, store: BenchStore, folder?: string): Promise<void> {
  await server.stop();
  await store.drop();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
}

function propertiesOf(bench: BenchCase, store: BenchStore): string {
  const sections = {
    "": { sources: "http-source", channels: "test-channel", sinks: "rdb-sink" },
    "sources.http-source.": {
      type: "http",
      channels: "test-channel",
      bind: "127.0.0.1",
      port: "0",
      handler: "ngsi",
      "handler.ngsi_version": bench.format,
      interceptors: "ts",
      "interceptors.ts.type": "timestamp",
    },
    "channels.test-channel.": { type: bench.channel, ...bench.buffer },
    "sinks.rdb-sink.": {
      type: "rdb",
      channel: "test-channel",
      rdb_dialect: bench.dialect,
      attr_persistence: "column",
      ...store.properties,
      ...bench.sink,
    },
  };
  const lines = Object.entries(sections).flatMap(([prefix, values]) =>
    Object.entries(values).map(([key, value]) => `deneb.${prefix}${key} = ${value}`),
  );
  return lines.join("\n");
}

/** Collects the ports from the log lines of the agent until it is ready. */
function portReader(): (line: string) => Readonly<Record<string, number>> | undefined {
  const ports: Record<string, number> = {};
  return (line) => {
    const { component, port, msg } = JSON.parse(line);
    if (typeof port === "number") ports[component] = port;
    return msg === "ready" ? ports : undefined;
  };
}

const portLine = (line: string) => ({ port: Number(line) });

const scriptAt = (script: string) => fileURLToPath(new URL(script, import.meta.url));

/** Posts one notification until it is answered 200; a system under test that never does is ended by the caller. */
async function firstAnswer(url: string, bench: BenchCase): Promise<void> {
  const [body = ""] = notificationBodies(1, bench.format);
  const contentType = bench.format === "ld" ? "application/ld+json" : "application/json";
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": contentType, "Fiware-Service": "bench" },
    body,
  });
  if (response.status !== 200) throw new Error(`${bench.name}: the first notification was answered ${response.status}`);
  await response.arrayBuffer();
}
