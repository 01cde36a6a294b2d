import { isUtf8 } from "node:buffer";
import { type Request, type RequestHandler, type Response, raw } from "express";
import { isRecord, parsedJson } from "../sdk/event.js";
import { badRequest, type HttpError, malformedJson } from "./answers.js";

/** Reads the body of a request, whatever its method and content type; a larger one is answered with 413. */
export function bodyReader(limit: number): RequestHandler {
  return raw({ type: () => true, limit });
}

/** The body as text; empty when there is none. Throws for bytes that are not UTF-8: read as such, they would be changed. */
export function bodyOf({ body }: Request): string {
  if (!Buffer.isBuffer(body)) return "";
  if (!isUtf8(body)) throw malformedJson();
  return body.toString("utf8");
}

/** The body as a JSON object; undefined when it is something else. */
export function objectOf(request: Request): Readonly<Record<string, unknown>> | undefined {
  return asObject(parsedJson(bodyOf(request)));
}

/** A member that is an object; undefined when it is something else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** A parameter of the query, the first of several; undefined when it is missing, empty when it has no value. */
export function parameterOf(request: Request, name: string): string | undefined {
  return queryIn(request.originalUrl).get(name) ?? undefined;
}

/** A count of the query; the other value when it is absent. */
export function countOf<T extends number | undefined>(request: Request, name: string, otherwise: T): number | T {
  const text = parameterOf(request, name);
  if (text === undefined) return otherwise;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw badRequest(`Invalid parameter. ${name} is a whole number, 0 or more`);
}

/** A parameter of the query that is true or false; false when it is absent. */
export function flagOf(request: Request, name: string): boolean {
  const text = parameterOf(request, name) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw badRequest(`Invalid parameter. ${name} is true or false`);
}

/** What is wrong with the parameters of the query: the first that is not among those that the call takes; undefined when there is none. */
export function unknownParameter(request: Request, taken: ReadonlySet<string>): string | undefined {
  const unknown = [...queryIn(request.originalUrl).keys()].find((name) => !taken.has(name));
  if (unknown === undefined) return undefined;
  const known = taken.size === 0 ? "This call has none" : `Known are ${[...taken].join(", ")}`;
  return `Unknown parameter ${unknown}. ${known}`;
}

/** The documented error of a parameter that is required and absent, or has a wrong value. */
export function parameterError(complaint: "wrong" | "missing" | "empty", name: string): HttpError {
  return badRequest(`Parse error, ${complaint} parameter (${name}). Check it for errors`);
}

/** Refuses a body with a member that the call does not take. */
export function refuseUnknownMembers(body: object, taken: ReadonlySet<string>): void {
  const unknown = Object.keys(body).find((name) => !taken.has(name));
  if (unknown !== undefined) throw badRequest(`Unknown member ${unknown}. Known are ${[...taken].join(", ")}`);
}

/** Refuses a query with escapes that are not UTF-8, such as `%E9` alone: read as such, its values would be changed. */
export const refuseUnreadableQuery: RequestHandler = ({ originalUrl }, _response, next) => {
  const start = originalUrl.indexOf("?");
  if (start === -1 || isReadable(originalUrl.slice(start))) next();
  else next(badRequest("Invalid parameter. The query is not UTF-8; write é as %C3%A9"));
};

function isReadable(query: string): boolean {
  const runs = query.match(/(?:%[0-9a-f]{2})+/gi) ?? [];
  return runs.every((run) => isUtf8(Buffer.from(run.replaceAll("%", ""), "hex")));
}

export function queryIn(url: string): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : url.slice(start + 1));
}

/** The JSON value of a request's body; undefined when the body is empty. Throws the documented error for other texts. */
export function jsonBody(request: Request): unknown {
  const text = bodyOf(request);
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}

/** Whether a call can change something: its method is not one for reading, or it is a GET that resets. */
export function isChanging(request: Request): boolean {
  return !readingMethods.has(request.method) || parameterOf(request, "reset") === "true";
}

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Aborts when the answer is sent or its caller disconnects. */
export function disconnected(response: Response): AbortSignal {
  const controller = new AbortController();
  response.once("close", () => controller.abort());
  return controller.signal;
}
