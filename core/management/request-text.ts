import { type Request, type RequestHandler, raw } from "express";

/** Reads the body of a request whatever its method and content type say; larger ones are answered 413. */
export function bodyReader(limit: number): RequestHandler {
  return raw({ type: () => true, limit });
}

/** The body as text; empty when there is none. */
export function bodyOf({ body }: Request): string {
  return Buffer.isBuffer(body) ? body.toString("utf8") : "";
}

/** The body as a JSON object; undefined when it is something else. */
export function objectOf(request: Request): Readonly<Record<string, unknown>> | undefined {
  return asObject(parsed(bodyOf(request)));
}

/** A member that is an object; undefined when it is something else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

/** A parameter of the query, the first of several; undefined when it is missing, empty when it has no value. */
export function parameterOf(request: Request, name: string): string | undefined {
  return queryOf(request).get(name) ?? undefined;
}

/** The names of the parameters that are given. */
export function parametersOf(request: Request): readonly string[] {
  return [...queryOf(request).keys()];
}

function queryOf({ originalUrl }: Request): URLSearchParams {
  const start = originalUrl.indexOf("?");
  return new URLSearchParams(start === -1 ? "" : originalUrl.slice(start + 1));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
