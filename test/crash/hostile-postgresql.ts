import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chown } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { endingWithProcess } from "../support/ends-with-process.js";
import { freePort } from "../support/free-port.js";
import { freeze } from "../support/freeze.js";
import type { PostgresqlPrograms } from "../support/postgresql-programs.js";
import { runningProcesses } from "../support/processes.js";
import { type Account, unprivilegedAccount } from "../support/unprivileged-account.js";
import { until } from "../support/until.js";

const HOST = "127.0.0.1";
const USER = "postgres";
const START_PATIENCE_MILLISECONDS = 60_000;
const CONNECT_PATIENCE_MILLISECONDS = 30_000;

const run = promisify(execFile);

/** A PostgreSQL of one test, which may do to it what happens to servers. */
export class HostilePostgresql {
  readonly #programs: PostgresqlPrograms;
  readonly #folder: string;
  #account: Account | undefined;
  #port = 0;
  #postmaster: ChildProcess | undefined;

  /** In a folder for itself. No I/O. */
  constructor(programs: PostgresqlPrograms, folder: string) {
    this.#programs = programs;
    this.#folder = folder;
  }

  /** Makes the cluster and runs it. */
  async make(): Promise<void> {
    this.#account = await unprivilegedAccount("postgres");
    if (this.#account !== undefined) await chown(this.#folder, this.#account.uid, this.#account.gid);
    this.#port = await freePort(HOST);
    const flags = ["-D", this.#data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
    await run(this.#programs.initdb, [...flags, "--wal-segsize=1"], { ...this.#account, cwd: this.#folder });
    await this.start();
  }

  /** The properties of a sink that writes here. */
  get sink(): Readonly<Record<string, string>> {
    return { rdb_host: HOST, rdb_port: String(this.#port), rdb_username: USER };
  }

  /** Runs it unless it runs, and waits until it answers. */
  async start(): Promise<void> {
    const answers = async () => {
      if (this.#postmaster === undefined || ended(this.#postmaster)) this.#postmaster = this.#spawned();
      return await this.query("select 1").then(
        () => true,
        () => false,
      );
    };
    await until(answers, (answered) => answered, START_PATIENCE_MILLISECONDS);
  }

  /** As an operator stops it: connections are ended, what is committed is on disk. */
  async stop(): Promise<void> {
    await this.#end((postmaster) => postmaster.kill("SIGINT"));
  }

  /** As when the power fails: all its processes end at once, whatever they are doing. */
  async kill(): Promise<void> {
    await this.#end(async (postmaster) => {
      // A stopped one starts no process that we would miss.
      await freeze(postmaster);
      for (const process of await childrenOf(postmaster)) killed(process);
      postmaster.kill("SIGKILL");
    });
  }

  /** The rows, every value as text. On a connection of its own, as the server may have been away. */
  async query(text: string): Promise<readonly Readonly<Record<string, string | null>>[]> {
    const client = new pg.Client({
      host: HOST,
      port: this.#port,
      user: USER,
      database: "postgres",
      connectionTimeoutMillis: CONNECT_PATIENCE_MILLISECONDS,
      types: { getTypeParser: () => (value: string) => value },
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      const answers = [await client.query(text)].flat();
      return answers.flatMap(({ rows }) => rows);
    } finally {
      await client.end();
    }
  }

  get #data(): string {
    return path.join(this.#folder, "data");
  }

  #spawned(): ChildProcess {
    const settings = [
      `port=${this.#port}`,
      `listen_addresses=${HOST}`,
      "unix_socket_directories=",
      "fsync=off",
      "shared_buffers=16MB",
      "min_wal_size=2MB",
      "max_wal_size=16MB",
    ].flatMap((setting) => ["-c", setting]);
    const postgres = path.join(path.dirname(this.#programs.initdb), "postgres");
    const options: SpawnOptions = { ...this.#account, cwd: this.#folder, stdio: "ignore" };
    return endingWithProcess(spawn(postgres, ["-D", this.#data, ...settings], options));
  }

  async #end(how: (postmaster: ChildProcess) => unknown): Promise<void> {
    const postmaster = this.#postmaster;
    if (postmaster === undefined || ended(postmaster)) return;
    const exited = once(postmaster, "exit");
    await how(postmaster);
    await exited;
  }
}

function ended({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function childrenOf({ pid }: ChildProcess): Promise<readonly number[]> {
  return (await runningProcesses()).filter(({ parent }) => parent === pid).map(({ id }) => id);
}

function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended by itself meanwhile.
  }
}
