import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endingWithProcess } from "./ends-with-process.js";
import { freePort } from "./free-port.js";
import { freeze } from "./freeze.js";
import { installedProgram } from "./installed-program.js";
import type { OwnServer } from "./provided-server.js";
import { reachable } from "./reachable.js";
import { until } from "./until.js";

const HOST = "127.0.0.1";
const START_MILLIS = 60_000;

/** A NATS server with JetStream that a test may kill, freeze and start again on the same port and folder. */
export interface OwnNats extends OwnServer {
  /** `nats://host:port`. */
  readonly url: string;
  readonly folder: string;
  /** Ends it at once, with SIGKILL; its files stay. */
  readonly halt: () => Promise<void>;
  readonly resume: () => Promise<void>;
  /** Stops its process where it is, as a frozen machine would; `thaw` lets it go on. */
  readonly freeze: () => Promise<void>;
  readonly thaw: () => void;
}

export interface NatsSettings {
  readonly port?: number;
  /** Further lines of its configuration: users, permissions, TLS, max_payload. */
  readonly lines?: readonly string[];
  /** Where its streams are; absent: in its folder. */
  readonly streams?: string;
  /** Further lines within `jetstream { }`. */
  readonly jetstream?: readonly string[];
  /** Files of its folder by name; `$folder` in the lines stands for that folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Where nats-server is installed. */
export async function natsProgram(): Promise<string | undefined> {
  return await installedProgram("nats-server");
}

/** Runs a server on a free port of the loopback interface, its streams in a temporary folder. */
export async function startOwnNats(program: string, settings: NatsSettings = {}): Promise<OwnNats> {
  const { lines = [], jetstream = [], files = {} } = settings;
  const port = settings.port ?? (await freePort(HOST));
  const folder = await mkdtemp(join(tmpdir(), "deneb-nats-"));
  const streams = settings.streams ?? join(folder, "streams");
  const configuration = [
    `listen: "${HOST}:${port}"`,
    "jetstream {",
    `  store_dir: "${streams}"`,
    ...jetstream,
    "}",
    ...lines.map((line) => line.replaceAll("$folder", folder)),
    "",
  ];
  await writeFile(join(folder, "nats.conf"), configuration.join("\n"));
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content, { mode: 0o600 });
  const runs = new Run(program, folder, port);
  const stop = async (): Promise<void> => {
    await runs.halt();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await runs.start();
  } catch (error) {
    await stop();
    throw error;
  }
  const { halt, start: resume, freeze, thaw } = runs;
  return { host: HOST, port, user: "", url: `nats://${HOST}:${port}`, folder, stop, halt, resume, freeze, thaw };
}

/** The process, or the one that follows it. */
class Run {
  readonly #program: string;
  readonly #folder: string;
  readonly #port: number;
  #server: ChildProcess | undefined;

  constructor(program: string, folder: string, port: number) {
    this.#program = program;
    this.#folder = folder;
    this.#port = port;
  }

  readonly start = async (): Promise<void> => {
    const args = ["-c", join(this.#folder, "nats.conf"), "-l", join(this.#folder, "log")];
    const server = endingWithProcess(spawn(this.#program, args, { cwd: this.#folder, stdio: "ignore" }));
    this.#server = server;
    let ended = false;
    server.once("exit", () => {
      ended = true;
    });
    await until(
      async () => ended || (await reachable(HOST, this.#port)),
      (done) => done,
      START_MILLIS,
    );
    if (ended) throw new Error(`${this.#program} ended at its start, called with ${args.join(" ")}`);
  };

  readonly halt = async (): Promise<void> => {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };

  readonly freeze = async (): Promise<void> => {
    if (this.#server !== undefined) await freeze(this.#server);
  };

  readonly thaw = (): void => {
    this.#server?.kill("SIGCONT");
  };
}
