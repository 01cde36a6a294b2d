import { readFile } from "node:fs/promises";
import type { NodeConnectionOptions } from "@nats-io/transport-node";
import { AgentError, codeOf, readTlsFiles } from "deneb/sdk";
import type { NatsClient } from "../client.js";
import type { JetStreamConfig } from "../config.js";
import { type Beginning, nameOf } from "./greeting.js";

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
  const remedy = "write it with nsc generate creds, or with nk -gen user for a user that has an nkey alone";
  const refused = (reason: string) =>
    new AgentError("LOG_DENIED", `${starting}: ${reason}; ${remedy}`, { retryable: false });
  const text = content.toString();
  const seed = loneSeed(text);
  if (seed === undefined && !/BEGIN NATS USER JWT[\s\S]*BEGIN USER NKEY SEED/.test(text)) {
    throw refused("it holds neither a user JWT with its seed nor the seed of a user");
  }
  const authenticator =
    seed === undefined ? client.credsAuthenticator(content) : client.nkeyAuthenticator(Buffer.from(seed));
  // The client reads the seed when a server has asked, and takes a broken one for a server that is away.
  try {
    authenticator("asked");
  } catch {
    throw refused("its seed cannot be read");
  }
  return authenticator;
}

/** The seed of a user without a JWT, with or without the lines that nsc writes around it. */
function loneSeed(text: string): string | undefined {
  if (text.includes("BEGIN NATS USER JWT")) return undefined;
  return /^SU\w+(?=\s*$)/m.exec(text)?.[0];
}

/**
 * The options for this server alone. The client itself would try each address of a name one after another, each for the whole
 * time; and where a server is named by its address it would look for "localhost" in the certificate.
 */
export function optionsFor(
  server: string,
  options: NodeConnectionOptions,
  beginning: Beginning = "greeting",
): NodeConnectionOptions {
  const isSecured = beginning === "TLS" || Boolean(options.tls);
  const tls = { ...options.tls, ...nameOf(server), ...(beginning === "TLS" ? { handshakeFirst: true } : {}) };
  return { ...options, servers: [server], resolve: false, ...(isSecured ? { tls } : {}) };
}
