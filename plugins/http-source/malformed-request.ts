import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { codeOf, type Logger } from "deneb/sdk";
import { errorContent } from "./error-content.js";

/** Answers what is not HTTP, is too long for it, or did not arrive in time, and closes the connection. */
export function answerMalformed(error: Error, socket: Duplex, log: Logger): void {
  const code = codeOf(error);
  log.debug({ reason: error.message }, "connection closed on a bad request");
  if (code === "ECONNRESET" || !socket.writable) socket.destroy();
  else socket.end(rawAnswer(code), () => socket.destroy());
}

function rawAnswer(code: string | undefined): string {
  const { status, reason } = refusals.get(code) ?? { status: 400, reason: "The request is not valid HTTP" };
  const { type, content } = errorContent(reason, undefined);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(content)}`,
    "Connection: close",
    "",
    content,
  ].join("\r\n");
}

/** By the error codes of Node's HTTP parser. */
const refusals: ReadonlyMap<string | undefined, { readonly status: number; readonly reason: string }> = new Map([
  ["HPE_HEADER_OVERFLOW", { status: 431, reason: "The headers are too large" }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", { status: 413, reason: "The chunk extensions are too large" }],
  ["ERR_HTTP_REQUEST_TIMEOUT", { status: 408, reason: "The request did not arrive in time" }],
]);
