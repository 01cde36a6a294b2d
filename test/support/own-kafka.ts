import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import { freeze } from "./freeze.js";
import type { KafkaPrograms } from "./kafka-jars.js";
import type { OwnServer } from "./provided-server.js";
import { reachable } from "./reachable.js";
import { until } from "./until.js";

const HOST = "127.0.0.1";
const START_MILLIS = 60_000;

const run = promisify(execFile);

/** A Kafka that a test may stop, freeze and start again. */
export interface OwnKafka extends OwnServer {
  /** host:port, as `bootstrap_servers` wants it. */
  readonly address: string;
  /** Ends it at once, as a power failure would; its files stay. */
  readonly halt: () => Promise<void>;
  /** Starts it again on the same port and files, perhaps with other lines; returns when it listens. */
  readonly resume: (lines?: readonly string[]) => Promise<void>;
  /** Stops its process (SIGSTOP): connections stay, and nothing answers. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
}

export interface KafkaSettings {
  /** Of the listener of the clients. */
  readonly protocol?: "PLAINTEXT" | "SSL" | "SASL_PLAINTEXT" | "SASL_SSL";
  /** Further lines of server.properties; `FOLDER` stands for the folder of the server. */
  readonly lines?: readonly string[];
  /** Further files in its folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further ports without security; to clients that come by one the broker says that it is at `advertised`. */
  readonly ways?: readonly { readonly port: number; readonly advertised: number }[];
  /** Users of SCRAM, for both mechanisms, with their passwords. */
  readonly users?: Readonly<Record<string, string>>;
}

/** Runs a broker that is its own controller, on free ports of the loopback interface and in a temporary folder. */
export async function startOwnKafka({ java, jars }: KafkaPrograms, settings: KafkaSettings = {}): Promise<OwnKafka> {
  const folder = await mkdtemp(join(tmpdir(), "deneb-kafka-"));
  const [port, controller] = [await freePort(HOST), await freePort(HOST)];
  const file = join(folder, "server.properties");
  const writeSettings = async (more: readonly string[] = []) => {
    const text = [...properties({ folder, port, controller, settings }), ...more].join("\n");
    await writeFile(file, text.replaceAll("FOLDER", folder));
  };
  const base = [
    "-Xmx384m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    `-Dlog4j.configuration=file:${folder}/log4j`,
  ];
  const classes = [...base, "-cp", `${jars}/*`];
  let server: ChildProcess | undefined;
  const halt = async (): Promise<void> => {
    const ended = server;
    server = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = once(ended, "exit");
    ended.kill("SIGKILL");
    await exited;
  };
  const stop = async (): Promise<void> => {
    await halt();
    await rm(folder, { recursive: true, force: true });
  };
  const resume = async (more: readonly string[] = []): Promise<void> => {
    await writeSettings(more);
    const log = await open(join(folder, "log"), "a");
    const started = spawn(java, [...classes, "kafka.Kafka", file], { cwd: folder, stdio: ["ignore", log.fd, log.fd] });
    await log.close();
    server = started;
    const gone = once(started, "exit").then(async () => {
      throw new Error(`it ended: ${(await readFile(join(folder, "log"), "utf8")).slice(-2000)}`);
    });
    gone.catch(() => undefined);
    const up = until(
      () => reachable(HOST, port),
      (answers) => answers,
      START_MILLIS,
    );
    await Promise.race([up, gone]);
  };
  try {
    await writeSettings();
    await writeFile(join(folder, "log4j"), LOG4J);
    for (const [name, content] of Object.entries(settings.files ?? {})) await writeFile(join(folder, name), content);
    const format = ["kafka.tools.StorageTool", "format", "-t", clusterId(), "-c", file];
    await run(java, [...classes, ...format, ...scram(settings.users ?? {})], { cwd: folder });
    await resume();
  } catch (cause) {
    await stop().catch(() => {});
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`starting a Kafka in "${folder}" failed: ${reason}`, { cause });
  }
  return {
    host: HOST,
    port,
    user: "",
    address: `${HOST}:${port}`,
    stop,
    halt,
    resume,
    freeze: async () => {
      if (server !== undefined) await freeze(server);
    },
    thaw: () => server?.kill("SIGCONT"),
  };
}

interface Places {
  readonly folder: string;
  readonly port: number;
  readonly controller: number;
  readonly settings: KafkaSettings;
}

// The controller has a listener of its own, without security: nobody else knows its port.
function properties({ folder, port, controller, settings }: Places): readonly string[] {
  const ways = settings.ways ?? [];
  const listeners = [`CLIENT://${HOST}:${port}`, ...ways.map((way, index) => `WAY${index}://${HOST}:${way.port}`)];
  const advertised = [`CLIENT://${HOST}:${port}`, ...ways.map((way, at) => `WAY${at}://${HOST}:${way.advertised}`)];
  const plain = ["CONTROLLER", ...ways.map((_, index) => `WAY${index}`)].map((name) => `${name}:PLAINTEXT`);
  return [
    "process.roles=broker,controller",
    "node.id=1",
    `controller.quorum.voters=1@${HOST}:${controller}`,
    `listeners=${listeners.join()},CONTROLLER://${HOST}:${controller}`,
    `advertised.listeners=${advertised.join()}`,
    `listener.security.protocol.map=CLIENT:${settings.protocol ?? "PLAINTEXT"},${plain.join()}`,
    "inter.broker.listener.name=CLIENT",
    "controller.listener.names=CONTROLLER",
    `log.dirs=${folder}/data`,
    "offsets.topic.replication.factor=1",
    "auto.create.topics.enable=false",
    "log.cleaner.dedupe.buffer.size=2097152",
    "num.network.threads=2",
    "num.io.threads=4",
    ...(settings.lines ?? []),
    "",
  ];
}

function scram(users: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(users).flatMap(([name, password]) =>
    ["SCRAM-SHA-256", "SCRAM-SHA-512"].flatMap((mechanism) => [
      "--add-scram",
      `${mechanism}=[name=${name},password=${password}]`,
    ]),
  );
}

const LOG4J = `log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d %p %c %m%n
`;

/** One that does not look like a flag. */
function clusterId(): string {
  return randomBytes(16).toString("base64url").replace(/^-/, "A");
}
