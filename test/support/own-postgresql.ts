import { execFile } from "node:child_process";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "./free-port.js";
import type { PostgresqlPrograms } from "./postgresql-programs.js";

/** A PostgreSQL that belongs to this test run. */
export interface OwnPostgresql {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Ends the server and removes its files. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

const HOST = "127.0.0.1";
const USER = "postgres";

const run = promisify(execFile);

/** Makes a database cluster in a temporary folder and runs it on a free port of the loopback interface. */
export async function startOwnPostgresql({ initdb, pgCtl }: PostgresqlPrograms): Promise<OwnPostgresql> {
  const account = await unprivilegedAccount();
  const folder = await mkdtemp(join(tmpdir(), "deneb-postgresql-"));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = { ...account, cwd: folder };
  let running = false;
  const stop = async (): Promise<void> => {
    if (running) await run(pgCtl, ["stop", "-D", data, "-m", "immediate", "-w"], options);
    running = false;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(initdb, ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], options);
    const port = await freePort(HOST);
    running = true;
    await run(pgCtl, ["start", "-D", data, "-l", join(folder, "log"), "-w", "-o", settings(port, folder)], options);
    return { host: HOST, port, user: USER, stop };
  } catch (cause) {
    await stop().catch(() => {});
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`starting a PostgreSQL in "${folder}" failed: ${reason}`, { cause });
  }
}

function settings(port: number, folder: string): string {
  return `-p ${port} -c listen_addresses=${HOST} -c unix_socket_directories='${folder}' -c fsync=off`;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** PostgreSQL refuses to run as root, so root lends it an account without rights; everybody else uses their own. */
async function unprivilegedAccount(): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return (await accountOf("postgres")) ?? (await accountOf("nobody"));
}

async function accountOf(name: string): Promise<Account | undefined> {
  try {
    const [user, group] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
    return { uid: Number(user.stdout), gid: Number(group.stdout) };
  } catch {
    return undefined;
  }
}
