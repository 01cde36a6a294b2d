import type { Response } from "express";
import { AgentError } from "../sdk/index.js";

/** Every reply of the management interface is a JSON object whose `success` is the text `true` or `false`. */
export function succeed(response: Response, payload: object = {}): void {
  sendJson(response, 200, { success: "true", ...payload });
}

/** A refusal or failure; `payload` says why, in `error` or `result` as the operation documents it. */
export function fail(response: Response, status: number, payload: object): void {
  sendJson(response, status, { success: "false", ...payload });
}

/** A reply without the envelope, for the few operations that are documented so. */
export function sendJson(response: Response, status: number, body: object): void {
  response.status(status).set("Content-Type", "application/json; charset=utf-8").end(JSON.stringify(body));
}

/** A management call that is answered with this status and payload, and success 'false'. */
export class HttpError extends AgentError {
  readonly status: number;
  readonly payload: object;

  constructor(status: number, payload: object, options?: ErrorOptions) {
    super("CALL_REFUSED", `answering a management call with status ${status}`, options);
    this.status = status;
    this.payload = payload;
  }
}

/** What the caller did wrong. */
export function badRequest(error: string): HttpError {
  return new HttpError(400, { error });
}

export function malformedJson(): HttpError {
  return badRequest("Parse error, malformed Json. Check it for errors");
}
