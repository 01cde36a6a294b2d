import type { Response } from "express";
import { withoutMarks } from "../ngsi/values/exact-number.js";
import { AgentError } from "../sdk/index.js";

/** Every answer of the management interface is a JSON object whose `success` is the text `true` or `false`. */
export function succeed(response: Response, payload: object = {}): void {
  sendJson(response, 200, { success: "true", ...payload });
}

/** An error; `payload` holds the reason in `error` or `result`, as documented for the operation. */
export function fail(response: Response, status: number, payload: object): void {
  sendJson(response, status, { success: "false", ...payload });
}

/** An answer without the envelope, for the few operations that are documented to have none. */
export function sendJson(response: Response, status: number, body: object): void {
  respond(response, status, JSON.stringify(body));
}

/** An answer with what a broker sent, whose numbers keep their digits; no text of it begins with half of a surrogate pair. */
export function sendExact(response: Response, status: number, payload: object): void {
  const body = { success: String(status === 200), ...payload };
  respond(response, status, withoutMarks(JSON.stringify(body)));
}

function respond(response: Response, status: number, text: string): void {
  response.status(status).set("Content-Type", "application/json; charset=utf-8").end(text);
}

/** An error that is answered with this status and payload, and success 'false'. */
export class HttpError extends AgentError {
  readonly status: number;
  readonly payload: object;

  constructor(status: number, payload: object, options?: ErrorOptions) {
    super("CALL_REFUSED", `answering a management call with status ${status}`, { ...options, retryable: false });
    this.status = status;
    this.payload = payload;
  }
}

/** The error for an invalid call. */
export function badRequest(error: string): HttpError {
  return new HttpError(400, { error });
}

export function malformedJson(): HttpError {
  return badRequest("Parse error, malformed Json. Check it for errors");
}
