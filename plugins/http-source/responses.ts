import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { codeOf, type Logger, type Refused, reasonOf } from "deneb/sdk";

/** The response to a request that is not accepted, and the cause under which it is counted. */
export interface Refusal extends Pick<Refused, "status" | "headers" | "reason" | "cause"> {}

/** The refusal of the kernel as a response: for one that may be repeated, with the time after which. */
export function refusalOf(refused: Refused, retryAfterSeconds: number): Refusal {
  if (refused.retryable !== true) return refused;
  const { retryAfter } = refused;
  const seconds = retryAfter === undefined ? retryAfterSeconds : Math.ceil(retryAfter / 1000);
  return { ...refused, headers: { ...refused.headers, "Retry-After": String(seconds) } };
}

/** The rest of the body is not read, so the connection cannot carry another request. */
export function tooLarge(limit: number): Refusal {
  const reason = `The content is larger than ${limit} bytes`;
  return { status: 413, cause: "content-too-large", reason, headers: closing };
}

export function noRoomForBody(retryAfter: number): Refusal {
  const reason = "Too many bytes of other notifications are being received";
  return busy("too-many-bytes-in-flight", reason, retryAfter);
}

export function tooManyConnections(retryAfter: number): Refusal {
  return busy("too-many-connections", "Too many connections are open", retryAfter);
}

/** For a request that waited for a reload that takes too long. */
export function reloading(retryAfter: number): Refusal {
  return busy("reload-in-progress", "The configuration is being reloaded", retryAfter);
}

const closing = { Connection: "close" };

export const noToken: Refusal = {
  status: 401,
  cause: "token",
  reason: "A valid token is required",
  headers: { "WWW-Authenticate": 'Bearer realm="notifications"', ...closing },
};

/** The connection is closed without a response: those to the requests before it may not have been read. */
export const tooManyWaiting: Refusal = {
  status: 503,
  cause: "too-many-waiting",
  reason: "Too many requests wait for the responses to earlier ones of their connections",
  headers: closing,
};

function busy(cause: string, reason: string, retryAfter: number): Refusal {
  return { status: 503, cause, reason, headers: { "Retry-After": String(retryAfter), ...closing } };
}

/**
 * What a failed TLS handshake is counted as; nothing is answered. Undefined for a sender that went away, as one does that only looks
 * whether the port is open.
 */
export function failedHandshake(error: Error, socket: TLSSocket, log: Logger): Refusal | undefined {
  // Node ends the connection of a sender whose certificate it does not accept as if that had gone.
  const code = String(socket.authorizationError ?? codeOf(error) ?? "");
  log.debug({ reason: reasonOf(error) }, "connection closed in its TLS handshake");
  if (code === "ECONNRESET" || code === "ERR_TLS_HANDSHAKE_TIMEOUT") return undefined;
  const [, meaning] = handshakes.find(([codes]) => codes.test(code)) ?? [];
  return handshake(meaning === undefined ? `The TLS handshake failed (${code})` : `${meaning} (${code})`);
}

function handshake(reason: string): Refusal {
  return { status: 400, cause: "tls-handshake", reason, headers: closing };
}

const handshakes: readonly (readonly [codes: RegExp, meaning: string])[] = [
  [/^ERR_SSL_HTTP_REQUEST$/, "The sender does not use TLS: the url of the subscription must begin with https://"],
  [/DID_NOT_RETURN_A_CERTIFICATE/, "The sender has no certificate, and tls_client_ca wants one"],
  [/_ALERT_.*(?:CERTIFICATE|UNKNOWN_CA)/, "The sender does not accept the certificate of this source, tls_certificate"],
  [
    /UNSUPPORTED_PROTOCOL|VERSION|NO_SHARED_CIPHER/,
    "The sender knows no version or cipher of TLS that this source has",
  ],
  [/^(?!ERR_).*(?:CERT|UNABLE_TO)/, "The certificate of the sender is not one of tls_client_ca, or not valid now"],
];

/** Responds to what is not HTTP, exceeds a limit of the parser or did not arrive in time, and closes the connection. */
export function refuseMalformed(error: Error, socket: Duplex, log: Logger): Refusal | undefined {
  const code = codeOf(error);
  log.debug({ reason: error.message }, "connection closed on a bad request");
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const refusal = malformed.get(code) ?? otherProtocol(error) ?? notHttp;
  socket.end(closingResponse(refusal), () => socket.destroy());
  return refusal;
}

const TLS_HANDSHAKE = 0x16;

/** Undefined where nothing is known of what was sent instead. */
function otherProtocol(error: Error): Refusal | undefined {
  const sent: unknown = Reflect.get(error, "rawPacket");
  if (!Buffer.isBuffer(sent)) return undefined;
  if (sent[0] === TLS_HANDSHAKE)
    return { ...notHttp, reason: "TLS is not expected: the source has no tls_certificate" };
  return sent.toString("latin1").startsWith("PRI * HTTP/2")
    ? { ...notHttp, reason: "HTTP/2 is not supported" }
    : undefined;
}

const notHttp: Refusal = {
  status: 400,
  cause: "malformed-http",
  reason: "The request is not valid HTTP",
  headers: closing,
};

/** For a request of HTTP/1.1, which names one host: of several, two readers may each take another one. */
export const oneHost: Refusal = {
  status: 400,
  cause: "malformed-http",
  reason: "The request must have one header Host",
  headers: closing,
};

/** For CONNECT, which asks for a connection to another server. */
export const noTunnel: Refusal = {
  status: 405,
  cause: "method",
  reason: "CONNECT method not supported",
  headers: { Allow: "POST", ...closing },
};

/** By the error codes of Node's HTTP parser. */
const malformed: ReadonlyMap<string | undefined, Refusal> = new Map([
  [
    "HPE_HEADER_OVERFLOW",
    { status: 431, cause: "headers-too-large", reason: "The headers are too large", headers: closing },
  ],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    {
      status: 413,
      cause: "chunk-extensions-too-large",
      reason: "The chunk extensions are too large",
      headers: closing,
    },
  ],
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    { status: 408, cause: "request-timeout", reason: "The request did not arrive in time", headers: closing },
  ],
]);

/** What the source refuses by itself. */
export const httpRefusals = [
  tooLarge(0),
  noRoomForBody(0),
  tooManyConnections(0),
  tooManyWaiting,
  reloading(0),
  noToken,
  notHttp,
  handshake(""),
  noTunnel,
  ...malformed.values(),
].map(({ status, cause }) => ({ status, cause }));

/** The text of a whole response, after which the connection is closed. */
export function closingResponse({ status, reason, headers }: Refusal): string {
  const { type, content } = errorContent(reason, undefined);
  const fields = { "Content-Type": type, "Content-Length": String(Buffer.byteLength(content)), ...headers };
  return `${statusLine(status)}${headerLines(fields)}\r\n${content}`;
}

/** Throws for a status that HTTP does not have, as Node does. */
export function statusLine(status: number): string {
  if (Number.isInteger(status) && status >= 200 && status <= 999) {
    return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`;
  }
  throw new RangeError(`${status} is not an HTTP status`);
}

/** Throws for a name or value that HTTP does not allow, as Node does. */
export function headerLines(fields: Readonly<Record<string, string>>): string {
  let lines = "";
  for (const [name, value] of Object.entries(fields)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}

/** The reason as JSON, or as plain text for a sender that prefers it. */
export function errorContent(reason: string, accept: string | undefined) {
  if (accept !== undefined && quality(accept, "text/plain") > quality(accept, "application/json")) {
    return { type: "text/plain; charset=utf-8", content: `${reason}\n` };
  }
  return { type: "application/json; charset=utf-8", content: JSON.stringify({ error: reason }) };
}

/** The weight that an Accept header gives a media type: that of its most specific range. */
function quality(accept: string, mediaType: string): number {
  const ranges = new Map(accept.toLowerCase().split(",").map(weighted));
  const [group = ""] = mediaType.split("/");
  return ranges.get(mediaType) ?? ranges.get(`${group}/*`) ?? ranges.get("*/*") ?? 0;
}

function weighted(range: string): readonly [string, number] {
  const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith("q="));
  return [name, weight === undefined ? 1 : Number(weight.slice(2))];
}
