import type { Request } from "express";
import { parameterOf } from "../request-text.js";

/** Whether a call may change something: one with another method than those for reading, or a GET that resets. */
export function isChanging(request: Request): boolean {
  return !readingMethods.has(request.method) || parameterOf(request, "reset") === "true";
}

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);
