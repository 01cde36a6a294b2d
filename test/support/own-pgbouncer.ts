import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import type { OwnServer } from "./provided-server.js";
import { reachable } from "./reachable.js";
import { unprivilegedAccount } from "./unprivileged-account.js";
import { until } from "./until.js";

const HOST = "127.0.0.1";

/** The PostgreSQL behind a pooler. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** Runs a PgBouncer that lends its few server connections for one transaction, and refuses what it refuses unless told. */
export async function startOwnPgbouncer(program: string, upstream: Upstream): Promise<OwnServer> {
  const port = await freePort(HOST);
  const account = await unprivilegedAccount("postgres");
  const folder = await mkdtemp(join(tmpdir(), "deneb-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  await writeFile(users, `"${upstream.user}" "${upstream.password}"\n`);
  await writeFile(file, settings({ port, users, upstream }));
  if (account !== undefined) for (const path of [folder, file, users]) await chown(path, account.uid, account.gid);
  const pooler = spawn(program, [file], { ...account, cwd: folder, stdio: "ignore" });
  const exited = once(pooler, "exit").catch(() => undefined);
  const stop = async (): Promise<void> => {
    pooler.kill("SIGKILL");
    await exited;
    await rm(folder, { recursive: true, force: true });
  };
  const gone = exited.then(() => {
    throw new Error(`${program} ended at its start`);
  });
  gone.catch(() => undefined);
  try {
    const up = until(
      () => reachable(HOST, port),
      (answers) => answers,
      5000,
    );
    await Promise.race([up, gone]);
    return { host: HOST, port, user: upstream.user, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function settings(of: { readonly port: number; readonly users: string; readonly upstream: Upstream }): string {
  const { host, port } = of.upstream;
  return [
    "[databases]",
    `* = host=${host} port=${port}`,
    "[pgbouncer]",
    `listen_addr = ${HOST}`,
    `listen_port = ${of.port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${of.users}`,
    "pool_mode = transaction",
    "default_pool_size = 2",
    "",
  ].join("\n");
}
