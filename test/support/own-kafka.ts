import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { endingWithProcess } from "./ends-with-process.js";
import { freeze } from "./freeze.js";
import type { KafkaPrograms } from "./kafka-jars.js";
import { type KafkaSettings, kafkaProperties, LOG4J, memberOf, scramUsers } from "./kafka-properties.js";
import type { OwnServer } from "./provided-server.js";
import { reachable } from "./reachable.js";
import { until } from "./until.js";

const HOST = "127.0.0.1";
/** Tests want a server soon, and not for long. */
const QUICK_JAVA = ["-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
const START_MILLIS = 240_000;

const run = promisify(execFile);

/** A Kafka that a test may stop, freeze and start again. */
export interface OwnKafka extends OwnServer {
  /** host:port, as `bootstrap_servers` wants it. */
  readonly address: string;
  readonly node: number;
  /** Of the partitions: one folder for each, as `topic-0`. */
  readonly data: string;
  /** Ends it at once, as a power failure would; its files stay. */
  readonly halt: () => Promise<void>;
  /** Ends it as an operator does: it gives its partitions to others before. */
  readonly shutDown: () => Promise<void>;
  /** Starts it again on the same port and files, perhaps with other lines; returns when it listens. */
  readonly resume: (lines?: readonly string[]) => Promise<void>;
  /** Stops its process (SIGSTOP): connections stay, and nothing answers. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
}

/** Runs a broker that is a controller too, on ports of the loopback interface and in a temporary folder. */
export async function startOwnKafka(
  { java, jars, archive }: KafkaPrograms,
  settings: KafkaSettings = {},
): Promise<OwnKafka> {
  const folder = await mkdtemp(join(tmpdir(), "deneb-kafka-"));
  const member = await memberOf(settings);
  const { port } = member;
  const file = join(folder, "server.properties");
  const writeSettings = async (more: readonly string[] = []) => {
    const text = [...kafkaProperties(settings, member), ...more].join("\n");
    await writeFile(file, text.replaceAll("FOLDER", folder));
  };
  // The archive is of a Java with these options.
  const quick = [...QUICK_JAVA, ...(archive === undefined ? [] : [`-XX:SharedArchiveFile=${archive}`])];
  const base = [...(settings.java ?? quick), `-Dlog4j.configuration=file:${folder}/log4j`];
  const classes = [...base, "-cp", `${jars}/*`];
  let server: ChildProcess | undefined;
  const end = async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    const ended = server;
    server = undefined;
    if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = once(ended, "exit");
    ended.kill(signal);
    await exited;
  };
  const stop = async (): Promise<void> => {
    await end("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  };
  const resume = async (more: readonly string[] = []): Promise<void> => {
    await writeSettings(more);
    const log = await open(join(folder, "log"), "a");
    const options: SpawnOptions = { cwd: folder, stdio: ["ignore", log.fd, log.fd] };
    const started = endingWithProcess(spawn(java, [...classes, "kafka.Kafka", file], options));
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
    const format = ["kafka.tools.StorageTool", "format", "-t", member.clusterId, "-c", file];
    await run(java, [...classes, ...format, ...scramUsers(settings)], { cwd: folder });
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
    node: member.node,
    data: join(folder, "data"),
    stop,
    halt: () => end("SIGKILL"),
    shutDown: () => end("SIGTERM"),
    resume,
    freeze: async () => {
      if (server !== undefined) await freeze(server);
    },
    thaw: () => server?.kill("SIGCONT"),
  };
}
