import { type ChildProcess, execFile, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { endingWithProcess } from "./ends-with-process.js";
import { freePort } from "./free-port.js";
import type { MysqlPrograms } from "./mysql-programs.js";
import type { OwnServer } from "./provided-server.js";
import { type Account, unprivilegedAccount } from "./unprivileged-account.js";

const HOST = "127.0.0.1";
const USER = "root";

const run = promisify(execFile);

/** Makes a MariaDB in a temporary folder and runs it, with these options, on a free port of the loopback interface. */
export async function startOwnMysql(programs: MysqlPrograms, more: readonly string[] = []): Promise<OwnServer> {
  const server = await OwnMysql.make(programs, ["--innodb-flush-log-at-trx-commit=0", ...more]);
  return { host: HOST, port: server.port, user: USER, stop: () => server.remove() };
}

interface MysqlPlace {
  readonly server: string;
  readonly more: readonly string[];
  readonly account: Account | undefined;
  readonly folder: string;
  readonly port: number;
}

/** A MariaDB in a temporary folder, which can be killed and started again. */
export class OwnMysql {
  readonly #place: MysqlPlace;
  #child: ChildProcess | undefined;

  private constructor(place: MysqlPlace) {
    this.#place = place;
  }

  /** Runs it, with these options, on a free port of the loopback interface. */
  static async make({ install, server }: MysqlPrograms, more: readonly string[]): Promise<OwnMysql> {
    const account = await unprivilegedAccount("mysql");
    const folder = await mkdtemp(join(tmpdir(), "deneb-mysql-"));
    const made = new OwnMysql({ server, more, account, folder, port: await freePort(HOST) });
    try {
      if (account !== undefined) await chown(folder, account.uid, account.gid);
      const options = ["--no-defaults", made.#data, "--auth-root-authentication-method=normal", "--skip-test-db"];
      await run(install, options, { ...account, cwd: folder, env: withOwnTemporary(folder) });
      await made.start();
      return made;
    } catch (cause) {
      await made.remove().catch(() => {});
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`starting a MariaDB in "${folder}" failed: ${reason}`, { cause });
    }
  }

  get port(): number {
    return this.#place.port;
  }

  /** Resolves when it takes connections. */
  async start(): Promise<void> {
    const { server, more, account, folder, port } = this.#place;
    const settings = [`--port=${port}`, `--bind-address=${HOST}`, `--socket=${join(folder, "socket")}`, ...more];
    const env = withOwnTemporary(folder);
    const options: SpawnOptions = { ...account, cwd: folder, env, stdio: ["ignore", "ignore", "pipe"] };
    this.#child = endingWithProcess(spawn(server, ["--no-defaults", this.#data, ...settings], options));
    await ready(this.#child);
  }

  /** As when the power fails, but for what the system has not written to disk. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#place.folder, { recursive: true, force: true });
  }

  get #data(): string {
    return `--datadir=${join(this.#place.folder, "data")}`;
  }
}

/** A server that starts removes the temporary tables of all that share its folder for them: queries of others would fail. */
function withOwnTemporary(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, TMPDIR: folder };
}

/** The server says on its error output when it takes connections. */
async function ready(child: ChildProcess): Promise<void> {
  if (child.stderr === null) throw new Error("the server has no output");
  const lines: string[] = [];
  const output = createInterface({ input: child.stderr });
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error(`it ended: ${lines.slice(-3).join(" ")}`)));
    output.on("line", (line) => {
      lines.push(line);
      if (/ready for connections/.test(line)) resolve();
    });
  });
}
