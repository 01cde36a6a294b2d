import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import type { MysqlPrograms } from "./mysql-programs.js";
import type { OwnServer } from "./provided-server.js";
import { unprivilegedAccount } from "./unprivileged-account.js";

const HOST = "127.0.0.1";
const USER = "root";

const run = promisify(execFile);

/** Makes a MariaDB in a temporary folder and runs it, with these options, on a free port of the loopback interface. */
export async function startOwnMysql(
  { install, server }: MysqlPrograms,
  more: readonly string[] = [],
): Promise<OwnServer> {
  const account = await unprivilegedAccount("mysql");
  const folder = await mkdtemp(join(tmpdir(), "deneb-mysql-"));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const data = `--datadir=${join(folder, "data")}`;
  const options = { ...account, cwd: folder };
  let child: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(install, ["--no-defaults", data, "--auth-root-authentication-method=normal", "--skip-test-db"], options);
    const port = await freePort(HOST);
    const settings = [
      `--port=${port}`,
      `--bind-address=${HOST}`,
      `--socket=${join(folder, "socket")}`,
      "--innodb-flush-log-at-trx-commit=0",
      ...more,
    ];
    child = spawn(server, ["--no-defaults", data, ...settings], { ...options, stdio: ["ignore", "ignore", "pipe"] });
    await ready(child);
    return { host: HOST, port, user: USER, stop };
  } catch (cause) {
    await stop().catch(() => {});
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`starting a MariaDB in "${folder}" failed: ${reason}`, { cause });
  }
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
