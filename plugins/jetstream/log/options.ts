import { readFile } from "node:fs/promises";
import { connect, isIP } from "node:net";
import type { NodeConnectionOptions } from "@nats-io/transport-node";
import { AgentError, codeOf, readTlsFiles } from "deneb/sdk";
import type { NatsClient } from "../client.js";
import type { JetStreamConfig } from "../config.js";

const DEFAULT_PORT = 4222;

/** The options of a connection; reads the files of the configuration. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connectionOptions(
  client: NatsClient,
  config: JetStreamConfig,
  component: string,
): Promise<NodeConnectionOptions> {
  const { username, password, token, tls_ca_file, tls_cert_file, tls_verify } = config;
  const secured = tls_ca_file !== "" || tls_cert_file !== "" || config.servers.some((server) => /^tls:/i.test(server));
  const { ca, cert, key } = await readTlsFiles(config, component, (file) => readFile(file, "utf8"));
  const files = { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert, ...keyOf(key) }) };
  // The client hands these on to node:tls, although its type does not say so.
  const tls = { ...files, rejectUnauthorized: tls_verify };
  return {
    name: "deneb",
    // A lost connection ends all that waits for it at once; the link makes the next one.
    reconnect: false,
    noAsyncTraces: true,
    // What is configured is authentic; a server may announce addresses that agents do not reach.
    ignoreClusterUpdates: true,
    ...(secured || !tls_verify ? { tls } : {}),
    ...(username === "" ? {} : { user: username, pass: password }),
    ...(token === "" ? {} : { token }),
    ...(config.credentials_file === "" ? {} : { authenticator: await credentials(client, config, component) }),
  };
}

function keyOf(key: string | undefined): { readonly key?: string } {
  return key === undefined ? {} : { key };
}

async function credentials(client: NatsClient, { credentials_file: file }: JetStreamConfig, component: string) {
  const starting = `starting ${component}: reading the file of its property "credentials_file"`;
  const content = await readFile(file).catch((cause: unknown) => {
    throw new AgentError("CERTIFICATE_UNREADABLE", `${starting} (${codeOf(cause)})`, { retryable: false });
  });
  const refused = (reason: string) =>
    new AgentError("LOG_DENIED", `${starting}: ${reason}; write it with nsc generate creds`, { retryable: false });
  if (!/BEGIN NATS USER JWT[\s\S]*BEGIN USER NKEY SEED/.test(content.toString())) {
    throw refused("it holds no user JWT with its seed");
  }
  const authenticator = client.credsAuthenticator(content);
  // The client reads the seed when a server has asked, and takes a broken one for a server that is away.
  try {
    authenticator("asked");
  } catch {
    throw refused("its seed cannot be read");
  }
  return authenticator;
}

/**
 * The options for this server alone. The client itself would try each address of a name one after another, each for the whole
 * time; and where a server is named by its address it would look for "localhost" in the certificate.
 */
export function optionsFor(server: string, options: NodeConnectionOptions): NodeConnectionOptions {
  const { host } = addressOf(server);
  const named = { ...options.tls, host, ...(isIP(host) === 0 ? { servername: host } : {}) };
  return { ...options, servers: [server], resolve: false, ...(options.tls ? { tls: named } : {}) };
}

function addressOf(server: string): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(server.includes("://") ? server : `nats://${server}`);
  return { host: hostname.replaceAll(/[[\]]/g, ""), port: port === "" ? DEFAULT_PORT : Number(port) };
}

const GREETING = "INFO ";
/** A server greets with one line, which names the servers of its cluster, too. */
const LONGEST_GREETING = 1024 * 1024;
const SHOWN = 20;

/**
 * Resolves when a NATS server greets at this address. The client forgets the socket of a server that accepts connections and says
 * nothing, as a frozen one does; that socket would stay. And it reads whatever comes, however long, until a line ends.
 */
export async function greets(server: string, signal: AbortSignal): Promise<void> {
  const socket = connect({ ...addressOf(server), signal });
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

function noNats(said: string): Error {
  const beginning = JSON.stringify(said.slice(0, SHOWN));
  return new Error(`what answers there is no NATS server: it begins with ${beginning}; see the property "servers"`);
}
