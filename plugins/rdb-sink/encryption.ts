import { readFile } from "node:fs/promises";
import type { ConnectionOptions } from "node:tls";
import { AgentError, codeOf, pemFault } from "deneb/sdk";
import type { ServerOptions, SslMode } from "./server.js";

/** TLS with these options, or no TLS. */
export type Encryption = ConnectionOptions | false;

/** How to connect, and whether an error means that the other encryption may succeed. */
interface Connecting<T> {
  connect(way: Encryption): Promise<T>;
  wantsOther(error: unknown): boolean;
}

/** Connects with the encryptions that the sslmode allows, one after another until the server accepts one. */
export async function connectBySslMode<T>(options: ServerOptions, { connect, wantsOther }: Connecting<T>): Promise<T> {
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
  const paths = { ca: options.sslRootCert, cert: options.sslCert, key: options.sslKey };
  const ca = await contents("sslrootcert", paths.ca);
  const cert = await contents("sslcert", paths.cert);
  const key = await contents("sslkey", paths.key);
  const fault = pemFault({ ca, cert, key });
  if (fault !== undefined) throw unusable(spelt[fault.file], `used: "${paths[fault.file]}": ${fault.reason}`);
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
}

const spelt = { ca: "sslrootcert", cert: "sslcert", key: "sslkey" } as const;

async function contents(option: string, path: string | undefined): Promise<Buffer | undefined> {
  if (path === undefined || path === "") return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    throw unusable(option, `read: "${path}" (${codeOf(cause)})`, cause);
  }
}

/** It may be tried again: somebody may be replacing the files now. */
function unusable(option: string, reason: string, cause?: unknown): AgentError {
  const message = `the file of ${option} in rdb_options cannot be ${reason}`;
  return new AgentError("CERTIFICATE_UNREADABLE", message, { cause, retryable: true });
}
