import { chown, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { startOwnProgram } from "./own-program.js";
import type { OwnServer } from "./provided-server.js";
import { unprivilegedAccount } from "./unprivileged-account.js";

const HOST = "127.0.0.1";

/** The PostgreSQL behind a pooler. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

/** Runs a PgBouncer that lends its few server connections for one transaction, and refuses what it refuses unless told; with further settings. */
export async function startOwnPgbouncer(
  program: string,
  upstream: Upstream,
  more: readonly string[] = [],
): Promise<OwnServer> {
  const port = await freePort(HOST);
  const account = await unprivilegedAccount("postgres");
  const folder = await mkdtemp(join(tmpdir(), "deneb-pgbouncer-"));
  const file = join(folder, "pgbouncer.ini");
  const users = join(folder, "users.txt");
  await writeFile(users, `"${upstream.user}" "${upstream.password}"\n`);
  await writeFile(file, settings({ port, users, upstream, more }));
  if (account !== undefined) for (const path of [folder, file, users]) await chown(path, account.uid, account.gid);
  const stop = await startOwnProgram({ program, args: [file], folder, host: HOST, port, account });
  return { host: HOST, port, user: upstream.user, stop };
}

interface PoolerSettings {
  readonly port: number;
  readonly users: string;
  readonly upstream: Upstream;
  readonly more: readonly string[];
}

function settings(of: PoolerSettings): string {
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
    ...of.more,
    "",
  ].join("\n");
}
