import { type IncomingMessage, type RequestOptions, request as requestPlain } from "node:http";
import { request as requestTls } from "node:https";
import { text } from "node:stream/consumers";
import { isRecord, parsedJson } from "../sdk/event.js";
import { AgentError, addressText, codeOf, reasonOf } from "../sdk/index.js";

/** Address of the management interface of an agent, and the credentials for it. */
export interface ManagementAddress {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Undefined for plain HTTP. */
  readonly tls: ClientTls | undefined;
}

interface ClientTls {
  /** CA certificates that the certificate of the agent is verified with; those of Node when undefined. */
  readonly ca: string | undefined;
  /** The certificate of the client and its key. */
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** What the agent answered. */
interface ManagementReply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  /** Why the agent rejected the request; undefined when it succeeded. */
  readonly failure: string | undefined;
}

/** Milliseconds without a byte from the agent; long, because it may have to read a file of dead letters first. */
const idleTimeoutMillis = 300_000;

/** Sends one request to the management interface of a running agent. */
export async function askManagement(
  address: ManagementAddress,
  method: string,
  path: string,
  body?: object,
): Promise<ManagementReply> {
  const { status, content } = await answerOf(address, { method, path, body });
  const answered = parsed(content);
  if (answered === undefined || typeof answered["success"] !== "string") {
    throw new AgentError(
      "NOT_AN_AGENT",
      `calling ${shownAddress(address)}: the answer (${status}) does not come from an agent`,
      { retryable: false },
    );
  }
  if (answered["success"] === "true") return { status, body: answered, failure: undefined };
  const reason = typeof answered["error"] === "string" ? answered["error"] : "no reason given";
  return {
    status,
    body: answered,
    failure: `the agent at ${shownAddress(address)} rejected the request: ${reason}${remedies.get(status) ?? ""}`,
  };
}

const tokenOptions = "--token-file or DENEB_MANAGEMENT_TOKEN";
const remedies: ReadonlyMap<number, string> = new Map([
  [401, `; give a token with ${tokenOptions}`],
  [403, `; give an admin token with ${tokenOptions}`],
]);

interface Asked {
  readonly method: string;
  readonly path: string;
  /** Sent as JSON. */
  readonly body: object | undefined;
}

async function answerOf(address: ManagementAddress, asked: Asked) {
  try {
    const response = await responseOf(address, asked);
    return { status: response.statusCode ?? 0, content: await text(response) };
  } catch (cause) {
    throw new AgentError("NO_AGENT", `no agent answers at ${shownAddress(address)}; ${remedyFor(cause, address)}`, {
      cause,
      retryable: false,
    });
  }
}

function responseOf(address: ManagementAddress, { method, path, body }: Asked): Promise<IncomingMessage> {
  const { port, tls, token } = address;
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const options: RequestOptions = { host: reachable(address.host), port, method, path, headers, agent: false };
  return new Promise((resolve, reject) => {
    const outgoing =
      tls === undefined ? requestPlain(options) : requestTls({ ...options, ca: tls.ca, cert: tls.cert, key: tls.key });
    outgoing.setTimeout(idleTimeoutMillis, () =>
      outgoing.destroy(new Error(`no answer within ${idleTimeoutMillis / 1000} seconds`)),
    );
    outgoing.on("error", reject).on("response", resolve);
    // Without a listener a change of the protocol would end the connection and leave the call open.
    outgoing.on("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new Error("the server changes the protocol"));
    });
    if (body === undefined) outgoing.end();
    else outgoing.setHeader("Content-Type", "application/json").end(JSON.stringify(body));
  });
}

function remedyFor(cause: unknown, { tls }: ManagementAddress): string {
  const code = codeOf(cause) ?? "";
  if (tls === undefined && code !== "ECONNREFUSED") return "if it uses HTTPS, give --tls or --ca-file";
  if (/_ALERT_|EPROTO|WRONG_VERSION/.test(code) || /alert/.test(reasonOf(cause))) {
    return "if it requires a client certificate, give --client-cert and --client-key; if it uses plain HTTP, omit --tls";
  }
  if (/CERT|SELF_SIGNED|VERIFY/.test(code)) {
    return "give the CA of its certificate with --ca-file, and a host name of the certificate with --management-host";
  }
  return "start it, or give its address with --management-host and --management-port";
}

/** For people. */
export function shownAddress({ host, port, tls }: ManagementAddress): string {
  return `${tls === undefined ? "" : "https://"}${addressText(reachable(host), port)}`;
}

/** A wildcard address is reached by the loopback address. */
function reachable(host: string): string {
  return host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
}

function parsed(content: string): Readonly<Record<string, unknown>> | undefined {
  const value = parsedJson(content);
  return isRecord(value) ? value : undefined;
}
