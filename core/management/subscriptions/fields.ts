import { isRecord } from "../../sdk/event.js";
import { badRequest, type HttpError, malformedJson } from "../answers.js";

/**
 * The members of a JSON object; `null` is read as absent. A member of the wrong type is malformed JSON; numbers and
 * booleans are accepted as texts.
 */
export class Fields {
  readonly #members: object;

  constructor(members: object) {
    this.#members = members;
  }

  /** Throws when the value is not an object. */
  static of(value: unknown): Fields {
    if (!isRecord(value)) throw malformedJson();
    return new Fields(value);
  }

  get isEmpty(): boolean {
    return Object.keys(this.#members).length === 0;
  }

  has(name: string): boolean {
    return this.value(name) !== undefined;
  }

  value(name: string): unknown {
    return Object.hasOwn(this.#members, name) ? (Reflect.get(this.#members, name) ?? undefined) : undefined;
  }

  text(name: string): string | undefined {
    const value = this.value(name);
    if (value === undefined || typeof value === "string") return value;
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    throw malformedJson();
  }

  object(name: string): Fields | undefined {
    const value = this.value(name);
    return value === undefined ? undefined : Fields.of(value);
  }

  list(name: string): readonly unknown[] | undefined {
    const value = this.value(name);
    if (value === undefined || Array.isArray(value)) return value;
    throw malformedJson();
  }

  objects(name: string): readonly Fields[] | undefined {
    return this.list(name)?.map((value) => Fields.of(value));
  }
}

/** Messages hold field names without quotation marks, as documented. */
type Complaint = "is missing" | "is empty" | "has missing fields" | "has empty fields" | "invalid";

export function invalid(thing: "subscription" | "endpoint", field: string, complaint: Complaint): HttpError {
  return badRequest(`Invalid ${thing}, field ${field} ${complaint}`);
}

export const invalidVersion = "Parse error, invalid parameter (ngsi_version): Must be 1 or 2. Check it for errors";

/** A check of a subscription: whether it fails, and the field and complaint of the error. */
export type Check = readonly [fails: boolean, field: string, complaint: Complaint];

/** Throws the error of the first check that fails. */
export function throwFirst(checks: readonly Check[]): void {
  const failing = checks.find(([fails]) => fails);
  if (failing !== undefined) throw invalid("subscription", failing[1], failing[2]);
}

export function missing(field: string, value: unknown): Check {
  return [value === undefined, field, "is missing"];
}

export function empty(field: string, text: string | undefined): Check {
  return [text === "", field, "is empty"];
}
