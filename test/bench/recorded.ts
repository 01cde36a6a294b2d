import { readFileSync } from "node:fs";
import type { BenchRequest } from "./requests.js";

/** A line of a file with recorded requests, one JSON object a line. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string;
  /** Events that the agent makes of it; absent in a file that no agent has seen. */
  readonly events?: number;
}

/** The requests of a file. Throws for a line that is none, with its number. */
export function recordedRequests(file: string): readonly RecordedRequest[] {
  const lines = textOf(file).split("\n");
  const requests = lines.flatMap((line, index) =>
    line.trim() === "" ? [] : [requestOf(line, `${file}:${index + 1}`)],
  );
  if (requests.length === 0) throw new Error(`${file} holds no request`);
  return requests;
}

/** The requests of a file that an agent has seen. */
export function surveyedRequests(file: string): readonly BenchRequest[] {
  return recordedRequests(file).map((request) => ({ ...request, events: request.events ?? 0 }));
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new Error(`--bodies is "${file}", which cannot be read: ${cause instanceof Error ? cause.message : cause}`);
  }
}

function requestOf(line: string, where: string): RecordedRequest {
  const parsed = jsonOf(line);
  if (isRequest(parsed)) return parsed;
  throw new Error(`${where} is no {"method", "path", "headers": [[name, value], ...], "body"} of texts`);
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isRequest(value: unknown): value is RecordedRequest {
  if (typeof value !== "object" || value === null) return false;
  if (!("method" in value && "path" in value && "headers" in value && "body" in value)) return false;
  const { method, path, headers, body } = value;
  const texts = [method, path, body, ...(Array.isArray(headers) ? headers.flat() : [undefined])];
  const pairs = Array.isArray(headers) && headers.every((pair) => Array.isArray(pair) && pair.length === 2);
  return pairs && texts.every((text) => typeof text === "string");
}
