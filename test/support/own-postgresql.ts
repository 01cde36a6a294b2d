import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { endsWithProcess } from "./ends-with-process.js";
import { freePort } from "./free-port.js";
import type { PostgresqlPrograms } from "./postgresql-programs.js";
import type { OwnServer } from "./provided-server.js";
import { unprivilegedAccount } from "./unprivileged-account.js";

const HOST = "127.0.0.1";
const USER = "postgres";

const run = promisify(execFile);

/** A PostgreSQL that a test may stop and start again. */
export interface OwnPostgresql extends OwnServer {
  /** Ends it at once, as a power failure would; its files stay. */
  readonly halt: () => Promise<void>;
  /** Starts it again on the same port. */
  readonly resume: () => Promise<void>;
  /** Gives it another certificate, which it has when it starts again. */
  readonly renew: (tls: ServerTls) => Promise<void>;
}

interface ServerTls {
  readonly key: string;
  readonly cert: string;
}

/** Makes a database cluster in a temporary folder and runs it on a free port of the loopback interface. */
export async function startOwnPostgresql(
  { initdb, pgCtl }: PostgresqlPrograms,
  tls?: ServerTls,
): Promise<OwnPostgresql> {
  const account = await unprivilegedAccount("postgres");
  const folder = await mkdtemp(join(tmpdir(), "deneb-postgresql-"));
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  const data = join(folder, "data");
  const options = { ...account, cwd: folder };
  let running: (() => void) | undefined;
  const halt = async (): Promise<void> => {
    if (running !== undefined) await run(pgCtl, ["stop", "-D", data, "-m", "immediate", "-w"], options);
    running?.();
    running = undefined;
  };
  const stop = async (): Promise<void> => {
    await halt();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(initdb, ["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"], options);
    if (tls !== undefined) await writeTls(data, tls, account);
    const port = await freePort(HOST);
    const resume = async (): Promise<void> => {
      running = endsWithProcess(() => process.kill(postmasterOf(data), "SIGQUIT"));
      await run(
        pgCtl,
        ["start", "-D", data, "-l", join(folder, "log"), "-w", "-o", settings(port, folder, tls !== undefined)],
        options,
      );
    };
    await resume();
    const renew = (renewed: ServerTls) => writeTls(data, renewed, account);
    return { host: HOST, port, user: USER, stop, halt, resume, renew };
  } catch (cause) {
    await stop().catch(() => {});
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`starting a PostgreSQL in "${folder}" failed: ${reason}`, { cause });
  }
}

/** The id of the process that runs a cluster: the program that starts it does not stay. */
function postmasterOf(data: string): number {
  return Number(readFileSync(join(data, "postmaster.pid"), "utf8").split("\n")[0]);
}

async function writeTls(
  data: string,
  { key, cert }: ServerTls,
  account: { readonly uid: number; readonly gid: number } | undefined,
): Promise<void> {
  for (const [name, content] of [
    ["server.key", key],
    ["server.crt", cert],
  ] as const) {
    await writeFile(join(data, name), content, { mode: 0o600 });
    if (account !== undefined) await chown(join(data, name), account.uid, account.gid);
  }
}

function settings(port: number, folder: string, tls: boolean): string {
  return `-p ${port} -c listen_addresses=${HOST} -c unix_socket_directories='${folder}' -c fsync=off${tls ? " -c ssl=on" : ""}`;
}
