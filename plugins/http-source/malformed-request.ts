import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { codeOf, type Logger } from "deneb/sdk";
import { headerLines } from "./answer-head.js";
import { errorContent } from "./error-content.js";
import type { Refusal } from "./refusal.js";

/** Answers what is not HTTP, is too long for it, or did not arrive in time, and closes the connection. */
export function answerMalformed(error: Error, socket: Duplex, log: Logger): Refusal | undefined {
  const code = codeOf(error);
  log.debug({ reason: error.message }, "connection closed on a bad request");
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const refusal = refusals.get(code) ?? notHttp;
  socket.end(rawAnswer(refusal), () => socket.destroy());
  return refusal;
}

/** A whole answer, after which the connection is closed. */
export function rawAnswer({ status, reason, headers }: Refusal): string {
  const { type, content } = errorContent(reason, undefined);
  const fields = { "Content-Type": type, "Content-Length": String(Buffer.byteLength(content)), ...headers };
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headerLines(fields)}\r\n${content}`;
}

const headers = { Connection: "close" };

const notHttp: Refusal = { status: 400, cause: "malformed-http", reason: "The request is not valid HTTP", headers };

/** By the error codes of Node's HTTP parser. */
const refusals: ReadonlyMap<string | undefined, Refusal> = new Map([
  ["HPE_HEADER_OVERFLOW", { status: 431, cause: "headers-too-large", reason: "The headers are too large", headers }],
  [
    "HPE_CHUNK_EXTENSIONS_OVERFLOW",
    { status: 413, cause: "chunk-extensions-too-large", reason: "The chunk extensions are too large", headers },
  ],
  [
    "ERR_HTTP_REQUEST_TIMEOUT",
    { status: 408, cause: "request-timeout", reason: "The request did not arrive in time", headers },
  ],
]);
