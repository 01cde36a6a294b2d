import type { Response } from "express";

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
