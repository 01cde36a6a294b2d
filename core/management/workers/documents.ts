import type { Json, JsonObject } from "../../agent/live/merge-patch.js";
import { isObject } from "./merged.js";
import type { WorkerAnswer } from "./worker-calls.js";

/** The JSON object of an answer; empty for anything else. */
export function documentOf({ body }: Pick<WorkerAnswer, "body">): JsonObject {
  try {
    const value: Json = JSON.parse(body.toString());
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A member that is a list of objects; empty for anything else. */
export function objectsIn(document: JsonObject, name: string): readonly JsonObject[] {
  const list = document[name];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** A member that is an object; empty for anything else. */
export function objectIn(document: JsonObject, name: string): JsonObject {
  const value = document[name];
  return isObject(value) ? value : {};
}

export function textIn(document: JsonObject, name: string): string {
  const value = document[name];
  return typeof value === "string" ? value : "";
}

export function numberIn(document: JsonObject, name: string): number {
  const value = document[name];
  return typeof value === "number" ? value : 0;
}

/** The same things, with reasons that name the worker. */
export function ofWorker(number: number, things: readonly JsonObject[]): readonly JsonObject[] {
  return things.map((thing) => ({ ...thing, reason: `worker ${number}: ${textIn(thing, "reason")}` }));
}
