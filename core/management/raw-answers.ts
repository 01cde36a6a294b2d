import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { codeOf } from "../sdk/index.js";

/** Answers, in the envelope, bytes that do not become a request: not HTTP, too large, or too slow. */
export function answerMalformed(error: Error, socket: Duplex): void {
  const code = codeOf(error);
  if (code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, reason } = parserErrors.get(code) ?? { status: 400, reason: "The request is not valid HTTP" };
  endWith(socket, status, reason);
}

/** CONNECT requests a tunnel, which is not supported. */
export function answerConnect(path: string, socket: Duplex): void {
  endWith(socket, 404, `CONNECT ${path} not found`);
}

function endWith(socket: Duplex, status: number, error: string): void {
  const content = JSON.stringify({ success: "false", error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(content)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${content}`, () => socket.destroy());
}

/** By the error codes of Node's HTTP parser. */
const parserErrors: ReadonlyMap<string | undefined, { readonly status: number; readonly reason: string }> = new Map([
  ["HPE_HEADER_OVERFLOW", { status: 431, reason: "The headers are too large" }],
  ["HPE_CHUNK_EXTENSIONS_OVERFLOW", { status: 413, reason: "The chunk extensions are too large" }],
  ["ERR_HTTP_REQUEST_TIMEOUT", { status: 408, reason: "The request did not arrive in time" }],
]);
