import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { AgentError, codeOf } from "deneb/sdk";
import type { ServerOptions, SslMode } from "./server.js";

/** TLS with these options, or no TLS. */
export type Encryption = ConnectionOptions | false;

/** How to connect, and whether an error means that the other encryption may succeed. */
export interface Connecting<T> {
  connect(way: Encryption): Promise<T>;
  wantsOther(error: unknown): boolean;
}

/** Connects with the encryptions that the sslmode allows, one after another until the server accepts one. */
export async function encrypted<T>(options: ServerOptions, { connect, wantsOther }: Connecting<T>): Promise<T> {
  const [first, second] = await encryptions(options);
  try {
    return await connect(first);
  } catch (error) {
    if (second === undefined || !wantsOther(error)) throw error;
    return await connect(second);
  }
}

async function encryptions(options: ServerOptions): Promise<readonly [Encryption, Encryption?]> {
  if (options.sslMode === "disable") return [false];
  const tls = { ...(await certificates(options)), ...checks[options.sslMode] };
  if (options.sslMode === "allow") return [false, tls];
  if (options.sslMode === "prefer") return [tls, false];
  return [tls];
}

const unchecked = { rejectUnauthorized: false };

const checks = {
  allow: unchecked,
  prefer: unchecked,
  require: unchecked,
  "verify-ca": { rejectUnauthorized: true, checkServerIdentity: () => undefined },
  "verify-full": { rejectUnauthorized: true },
} satisfies Record<Exclude<SslMode, "disable">, ConnectionOptions>;

async function certificates(options: ServerOptions): Promise<ConnectionOptions> {
  const ca = await contents("sslrootcert", options.sslRootCert);
  const cert = await contents("sslcert", options.sslCert);
  const key = await contents("sslkey", options.sslKey);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

async function contents(option: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined || path === "") return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    const message = `the file of ${option} in rdb_options cannot be read: "${path}" (${codeOf(cause)})`;
    throw new AgentError("CERTIFICATE_UNREADABLE", message, { cause, retryable: true });
  }
}
