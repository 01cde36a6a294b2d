import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { open, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { endingWithProcess } from "../support/ends-with-process.js";
import { freePort } from "../support/free-port.js";
import { freeze } from "../support/freeze.js";
import { until } from "../support/until.js";
import type { WayToPostgresql } from "../support/way-to-postgresql.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const HOST = "127.0.0.1";

export interface SharedAgentSetup {
  readonly folder: string;
  readonly flags: readonly string[];
  /** The lines of its properties file but for its port and those that a reload changes. */
  readonly lines: readonly string[];
  /** Its own ways to the servers, which can be cut. */
  readonly ways: { readonly database: WayToPostgresql; readonly engine: WayToPostgresql | undefined };
}

/** What an agent says of the log that it shares. */
export interface LogSight {
  readonly waiting?: number;
  readonly unaccounted?: number;
  readonly lost: number;
  readonly exact: boolean;
  readonly num_unattended: number;
  readonly agents: readonly { readonly run: string; readonly mine: boolean; readonly partitions: number }[];
  readonly partitions: readonly { readonly agent?: string }[];
}

/** One of several agents that share a log: a process that keeps its ports and its folder over restarts. */
export class SharedAgent {
  readonly setup: SharedAgentSetup;
  readonly #intake: number;
  readonly #management: number;
  #process: ChildProcess | undefined;
  #expected: ChildProcess | undefined;
  #changes = 0;
  /** Ends that nobody asked for. */
  readonly ends: string[] = [];

  private constructor(setup: SharedAgentSetup, intake: number, management: number) {
    this.setup = setup;
    this.#intake = intake;
    this.#management = management;
  }

  static async make(setup: SharedAgentSetup): Promise<SharedAgent> {
    const agent = new SharedAgent(setup, await freePort(HOST), await freePort(HOST));
    await agent.#write();
    return agent;
  }

  get notifyUrl(): string {
    return `http://${HOST}:${this.#intake}/notify`;
  }

  get output(): string {
    return path.join(this.setup.folder, "output");
  }

  async start(): Promise<void> {
    const { folder, flags } = this.setup;
    const output = await open(this.output, "a");
    const data = path.join(folder, "data");
    const all = ["--config", this.#file, "--data-dir", data, "--management-port", String(this.#management), ...flags];
    const env = { ...process.env, DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "5" };
    const options: SpawnOptions = { env, stdio: ["ignore", output.fd, output.fd] };
    const child = endingWithProcess(spawn(process.execPath, [main, "run", ...all], options));
    await output.close();
    this.#process = child;
    child.once("exit", (code, signal) => {
      if (this.#expected !== child) this.ends.push(`${signal ?? code}`);
    });
  }

  /** Resolves to the exit code, null after a signal. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return null;
    this.#expected = child;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
    return child.exitCode;
  }

  async freeze(): Promise<void> {
    if (this.#process !== undefined) await freeze(this.#process);
  }

  thaw(): void {
    this.#process?.kill("SIGCONT");
  }

  /** Changes its channel and its sink in turn; resolves when the reload is over, to whether it went well. */
  async reload(): Promise<boolean> {
    const before = (await this.stats())?.last_reload?.time;
    this.#changes += 1;
    await this.#write();
    this.#process?.kill("SIGHUP");
    const stats = await until(
      () => this.stats(),
      (sight) => sight?.last_reload !== undefined && sight.last_reload.time !== before,
    );
    return stats?.last_reload?.ok === true;
  }

  /** Undefined while it does not answer. */
  async stats(): Promise<Stats | undefined> {
    const url = `http://${HOST}:${this.#management}/v1/stats`;
    try {
      const reply = await fetch(url, { signal: AbortSignal.timeout(1000) });
      return JSON.parse(await reply.text()).stats;
    } catch {
      return undefined;
    }
  }

  /** Asks for a replay of all dead letters, if it answers. */
  async replay(): Promise<void> {
    const url = `http://${HOST}:${this.#management}/v1/admin/deadletters/replay?all=true`;
    try {
      const reply = await fetch(url, { method: "POST", signal: AbortSignal.timeout(10_000) });
      await reply.arrayBuffer();
    } catch {
      // It was just started.
    }
  }

  /** Undefined while it does not answer, or its log is not open. */
  async log(): Promise<LogSight | undefined> {
    return (await this.stats())?.channels[0]?.log;
  }

  /** How many dead letters it has kept, those included that it kept again. */
  async letters(): Promise<number> {
    const text = await readFile(this.output, "utf8");
    const kept = text.matchAll(/"events":(\d+)[^\n]*"events kept as dead letters"/g);
    return [...kept].reduce((sum, [, events]) => sum + Number(events), 0);
  }

  /** The last lines of its output. */
  async lastLines(): Promise<string> {
    const text = await readFile(this.output, "utf8").catch(() => "");
    return text.split("\n").slice(-12).join("\n");
  }

  get #file(): string {
    return path.join(this.setup.folder, "agent.properties");
  }

  async #write(): Promise<void> {
    const changes = this.#changes;
    const own = [
      `deneb.sources.http-source.port = ${this.#intake}`,
      `deneb.channels.c.transactionCapacity = ${1000 + Math.ceil(changes / 2)}`,
      `deneb.sinks.s.batch_size = ${50 + Math.floor(changes / 2)}`,
    ];
    await writeFile(this.#file, [...this.setup.lines, ...own].join("\n"));
  }
}

interface Stats {
  readonly channels: readonly { readonly log?: LogSight }[];
  readonly dead_letters: readonly { readonly num_waiting: number; readonly num_replaying: number }[];
  readonly last_reload?: { readonly time: string; readonly ok: boolean };
}
