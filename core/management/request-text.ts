import { isUtf8 } from "node:buffer";
import express, { type Request, type RequestHandler } from "express";
import { malformedJson } from "./refused-call.js";

/** Reads the body of every request, GET and DELETE included, whatever its content type; larger ones are answered 413. */
export function bodyReader(limit: number): RequestHandler {
  return express.raw({ type: () => true, limit });
}

/** The body that {@link bodyReader} read; empty when there is none. */
export function bodyText({ body }: Request): string {
  const content: unknown = body;
  if (!Buffer.isBuffer(content)) return "";
  if (!isUtf8(content)) throw malformedJson();
  return content.toString("utf8");
}

/** The JSON value of a text. Throws the documented refusal when it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}
