import type { Request } from "express";
import { parameter } from "../query.js";

/** Whether a call changes something: everything but GET does, and a GET that resets what it reads. */
export function isChanging(request: Request): boolean {
  return request.method !== "GET" || parameter(request, "reset") === "true";
}
