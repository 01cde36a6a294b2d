import { isRecord } from "../../sdk/records.js";
import { badRequest, type HttpError, malformedJson } from "../answers.js";
import type { BrokerEndpoint } from "./broker-client.js";

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

export function parameterError(complaint: "wrong" | "missing" | "empty", name: string): HttpError {
  return badRequest(`Parse error, ${complaint} parameter (${name}). Check it for errors`);
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

/** The endpoint object of a request, before its checks. */
export interface GivenEndpoint {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly ssl: string | undefined;
  readonly token: string | undefined;
}

/** Throws only for members of the wrong type. */
export function readEndpoint(fields: Fields | undefined): GivenEndpoint {
  return {
    host: fields?.text("host"),
    port: fields?.text("port"),
    ssl: fields?.text("ssl"),
    token: fields?.text("xauthtoken"),
  };
}

/** The endpoint to call. Throws the documented error of the first check that fails. */
export function checkedEndpoint({ host, port, ssl, token }: GivenEndpoint): BrokerEndpoint {
  if (host === undefined && port === undefined && ssl === undefined && token === undefined) {
    throw badRequest("Missing endpoint");
  }
  if (ssl === undefined) throw invalid("endpoint", "ssl", "is missing");
  if (host === undefined) throw invalid("endpoint", "host", "is missing");
  if (port === undefined) throw invalid("endpoint", "port", "is missing");
  if (host === "") throw invalid("endpoint", "host", "is empty");
  if (port === "") throw invalid("endpoint", "port", "is empty");
  if (ssl === "") throw invalid("endpoint", "ssl", "is empty");
  if (ssl !== "true" && ssl !== "false") throw invalid("endpoint", "ssl", "invalid");
  if (!/^[\w.-]+$|^\[?[\da-f:.]+\]?$/i.test(host)) throw invalid("endpoint", "host", "invalid");
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw invalid("endpoint", "port", "invalid");
  const plainHost = host.replaceAll(/[[\]]/g, "");
  return { host: plainHost, port: Number(port), tls: ssl === "true", token: token === "" ? undefined : token };
}

/** Deleting needs a token, even if the broker does not require one. */
export function checkToken({ token }: GivenEndpoint): void {
  if (token === undefined) throw badRequest("Missing Auth-Token. Required for DELETE subscriptions");
  if (token === "") throw badRequest("Empty Auth-Token. Required for DELETE subscriptions");
}
