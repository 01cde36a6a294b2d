import { connect, isIP, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { codeOf, onAbort } from "deneb/sdk";

const DEFAULT_PORT = 4222;

interface Address {
  readonly host: string;
  readonly port: number;
}

export function addressOf(server: string): Address {
  const { hostname, port } = new URL(server.includes("://") ? server : `nats://${server}`);
  return { host: hostname.replaceAll(/[[\]]/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) };
}

/** What the certificate of this server is compared with. */
export function nameOf(server: string): { readonly host: string; readonly servername?: string } {
  const { host } = addressOf(server);
  return { host, ...(isIP(host) === 0 ? { servername: host } : {}) };
}

const GREETING = "INFO ";
/** A server greets with one line, which names the servers of its cluster, too. */
const LONGEST_GREETING = 1024 * 1024;
const SHOWN = 20;
/** A server that has said nothing for so long may wait for TLS. */
const QUIET_MILLIS = 300;

/** How a server begins: it greets whoever connects, or, with `handshake_first`, whoever has begun TLS. */
export type Beginning = "greeting" | "TLS";

/**
 * Resolves when a NATS server greets at this address. The client forgets the socket of a server that accepts connections and says
 * nothing, as a frozen one does; that socket would stay. And it reads whatever comes, however long, until a line ends.
 */
export async function greets(
  server: string,
  signal: AbortSignal,
  tls: ConnectionOptions = {},
  quietMillis = QUIET_MILLIS,
): Promise<Beginning> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const inTls = async (): Promise<Beginning> => {
    await delay(quietMillis, undefined, { signal: either });
    // Whether to believe its certificate is for the connection that follows.
    const options = { ...addressOf(server), ...tls, ...nameOf(server), rejectUnauthorized: false };
    await greetsOn(connectTls(options), either);
    return "TLS";
  };
  const never = new Promise<never>(() => undefined);
  try {
    const plain = greetsOn(connect(addressOf(server)), either).then((): Beginning => "greeting");
    return await Promise.race([plain, inTls().catch(() => never)]);
  } finally {
    over.abort();
  }
}

async function greetsOn(socket: Socket, signal: AbortSignal): Promise<void> {
  const stopListening = onAbort(signal, () => socket.destroy(new Error("the time is over")));
  try {
    await new Promise<void>((resolve, reject) => {
      let said = "";
      socket.setEncoding("latin1").on("data", (text: string) => {
        said += text;
        const isOther = !GREETING.startsWith(said.slice(0, GREETING.length)) || said.length > LONGEST_GREETING;
        if (isOther) reject(noNats(said));
        else if (text.includes("\n")) resolve();
      });
      socket.once("error", reject);
      socket.once("close", () => reject(new Error("the server closes the connection")));
    });
  } finally {
    stopListening();
    socket.on("error", () => undefined);
    socket.destroy();
  }
}

/** For so long a server that has greeted may say why it closes the connection. */
const REFUSAL_MILLIS = 1000;

/**
 * What a server answers whoever connects before it closes the connection, as one that has as many as it takes; undefined for nothing.
 * The client writes to that connection before it reads, and only says that it could not.
 */
export async function refusalOf(server: string, signal: AbortSignal): Promise<string | undefined> {
  const socket = connect({
    ...addressOf(server),
    signal: AbortSignal.any([signal, AbortSignal.timeout(REFUSAL_MILLIS)]),
  });
  let said = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    said += text;
    if (said.length > LONGEST_GREETING) socket.destroy();
  });
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const [, reason] = /^-ERR '([^'\r\n]*)'/m.exec(said) ?? [];
  return reason;
}

/**
 * The alert with which a server ends TLS, as one that refuses the certificate of the client; undefined for none. The client writes as soon as
 * TLS is there for it, and where the server has closed by then it only says that it could not.
 */
export async function tlsAlert(
  server: string,
  tls: ConnectionOptions,
  beginning: Beginning,
  signal: AbortSignal,
): Promise<Error | undefined> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(REFUSAL_MILLIS)]);
  const plain = connect({ ...addressOf(server), signal: either });
  plain.on("error", () => undefined);
  // The server greets before TLS begins, unless it wants TLS first.
  if (beginning === "greeting" && !(await hasGreeted(plain))) return undefined;
  const secured = connectTls({ ...tls, socket: plain });
  const alert = await new Promise<Error | undefined>((resolve) => {
    secured.once("error", (error) => resolve(isAlert(error) ? error : undefined));
    plain.once("close", () => resolve(undefined));
  });
  secured.on("error", () => undefined).destroy();
  plain.destroy();
  return alert;
}

async function hasGreeted(socket: Socket): Promise<boolean> {
  return await new Promise<boolean>((resolve) => {
    const begin = (chunk: Buffer) => {
      socket.pause();
      resolve(chunk.toString("latin1").startsWith(GREETING));
    };
    socket.once("data", begin);
    socket.once("close", () => resolve(false));
  });
}

function isAlert(error: Error): boolean {
  return codeOf(error)?.includes("ALERT") === true;
}

function noNats(said: string): Error {
  const beginning = JSON.stringify(said.slice(0, SHOWN));
  return new Error(`what answers there is no NATS server: it begins with ${beginning}; see the property "servers"`);
}
