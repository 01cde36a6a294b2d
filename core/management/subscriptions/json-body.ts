import { isUtf8 } from "node:buffer";
import type { Request } from "express";
import { malformedJson } from "../refused-call.js";
import { bodyOf } from "../request-text.js";

/** The JSON value of a request's body; undefined when the body is empty. Throws the documented refusal of other texts. */
export function jsonBody(request: Request): unknown {
  if (Buffer.isBuffer(request.body) && !isUtf8(request.body)) throw malformedJson();
  const text = bodyOf(request);
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw malformedJson();
  }
}
