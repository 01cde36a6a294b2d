import { type Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { AgentError, codeOf, type TlsWords, tlsReason, withEither } from "deneb/sdk";

interface HttpCall {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Uint8Array;
}

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of the content. */
  readonly bytes: number;
}

export interface CallOptions {
  readonly agent: Agent;
  /** Milliseconds for all of it. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Sends one request and reads its whole response, whatever its status. Throws code `HTTP_UNREACHABLE` (retryable) when there is none. */
export async function send(call: HttpCall, { agent, timeout, signal }: CallOptions): Promise<HttpResponse> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeout);
  try {
    const response = await withEither([deadline.signal, signal], (either) => answered(call, agent, either));
    if (response !== undefined) return response;
    throw new Error("the connection was closed");
  } catch (cause) {
    const isLate = deadline.signal.aborted;
    const reason = isLate ? `no whole answer within ${timeout} ms` : reasonFor(cause);
    const message = `sending to "${call.url.origin}${call.url.pathname}": ${reason}`;
    throw new AgentError("HTTP_UNREACHABLE", message, { ...(isLate ? {} : { cause }), retryable: true });
  } finally {
    clearTimeout(timer);
  }
}

const words: TlsWords = {
  server: "the server",
  ca: "tls_ca_file",
  client: "tls_cert_file and tls_key_file",
  plain: "write http:// in url, or give the port for TLS",
  name: "write the host in url as the certificate does",
};

function reasonFor(cause: unknown): string {
  const code = codeOf(cause);
  if (code === undefined) return "no answer";
  if (code.startsWith("HPE_"))
    return `what it answers is not valid HTTP/1.1 (${code}); see whether url names the right port, and https:// where it wants TLS`;
  return tlsReason({ code, message: String(cause) }, words) ?? code;
}

const NO_CONTENT = 204;

/** Where the server has closed a kept connection, it may have closed the others: tried until one is new. */
async function answered(call: HttpCall, agent: Agent, signal: AbortSignal): Promise<HttpResponse | undefined> {
  for (let kept = 0; kept <= agent.maxSockets; kept += 1) {
    const response = await attempt(call, agent, signal);
    if (response !== undefined) return response;
    for (const idle of Object.values(agent.freeSockets)) for (const socket of idle ?? []) socket.destroy();
  }
  return undefined;
}

/** Connections that have carried a request. Node says so of a request only where it has not waited for its connection. */
const used = new WeakSet<object>();

/** Undefined when a kept connection turned out to be closed by the server: a new one may work. */
function attempt(call: HttpCall, agent: Agent, signal: AbortSignal): Promise<HttpResponse | undefined> {
  const { url, method, headers, body } = call;
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = open(url, { method, headers, agent, signal });
    let responded: IncomingMessage | undefined;
    let isKept = false;
    request.on("socket", (socket) => {
      isKept = used.has(socket);
      used.add(socket);
    });
    request.on("response", (response) => {
      responded = response;
      const { statusCode: status = 0, headers: fields } = response;
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("error", reject);
      response.on("close", () => reject(new Error("the connection was closed")));
      response.on("end", () => {
        resolve({ status, headers: fields, bytes });
        // A server that has answered need not read the rest: its connection would stay busy.
        if (!request.writableFinished) request.destroy();
      });
      // It has no content: what a server sends behind it is no part of the response, and ends the connection.
      if (status === NO_CONTENT) resolve({ status, headers: fields, bytes });
    });
    // Without a listener a change of the protocol would end the connection and leave the call open.
    request.on("upgrade", ({ statusCode = 0, headers }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, headers, bytes: 0 });
    });
    request.on("error", (error) => {
      if (isKept && responded === undefined && closed.has(codeOf(error))) resolve(undefined);
      // What a server sends behind the length that it gave, often one of characters, ends the connection only: "end" follows.
      else if (responded?.complete !== true) reject(error);
    });
    request.end(body);
  });
}

/** What a request on a connection that its server has closed fails with. */
const closed: ReadonlySet<string | undefined> = new Set(["ECONNRESET", "EPIPE"]);
