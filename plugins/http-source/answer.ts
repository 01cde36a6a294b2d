import type { IncomingMessage, ServerResponse } from "node:http";
import { errorContent } from "./error-content.js";
import type { Refusal } from "./refusal.js";

/** How long a sender may go on sending a body that was refused, before the connection is cut. */
const LINGER_MILLIS = 2000;

/** Tells the sender why its request was not accepted. Returns the bytes of the content. */
export function answerRefused(request: IncomingMessage, response: ServerResponse, refusal: Refusal): number {
  if (response.destroyed) return 0;
  const { type, content } = errorContent(refusal.reason, request.headers.accept);
  const length = Buffer.byteLength(content);
  response.writeHead(refusal.status, { "Content-Type": type, "Content-Length": length, ...refusal.headers });
  if (request.complete || refusal.headers["Connection"] !== "close") response.end(content);
  else endAfterBody(request, response, content);
  return length;
}

/** Closing while the sender still sends would reset the connection, and the answer might be lost with it. */
function endAfterBody(request: IncomingMessage, response: ServerResponse, content: string): void {
  response.write(content);
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MILLIS);
  request.once("end", end);
  response.once("close", () => clearTimeout(timer));
  request.resume();
}
