import type { Event } from "./event.js";

/** False for anything that is not an object with headers, such as a text or a promise. */
export function isEvent(value: unknown): value is Event {
  if (typeof value !== "object" || value === null || !("headers" in value)) return false;
  return typeof value.headers === "object" && value.headers !== null;
}

/** What is wrong with something that should be an event. */
export interface EventFault {
  /** What it is instead, for example `a promise`; one of a few texts. */
  readonly is: string;
  /** What it should be; an event when absent. */
  readonly wanted?: "an event" | "a list of events";
  /** Where, when that is a header or a part of the body. */
  readonly at?: string;
}

const DEEPEST = 1000;

/** For messages, for example `a promise in place of an event`. */
export function describedFault({ is, at, wanted = "an event" }: EventFault): string {
  return `${is}${at === undefined ? "" : ` ("${at}")`} in place of ${wanted}`;
}

/** The first fault of what should be a list of events. */
export function eventsFault(made: unknown): EventFault | undefined {
  return faultInList(made, (event) => eventFault(event, undefined));
}

/** Likewise, without a look into headers and bodies: for what every notification passes. */
export function outerFault(made: unknown): EventFault | undefined {
  return faultInList(made, (event) => (isEvent(event) ? undefined : eventFault(event, undefined)));
}

function faultInList(made: unknown, faultOf: (event: unknown) => EventFault | undefined): EventFault | undefined {
  if (!Array.isArray(made)) return listFault(made);
  for (const event of made) {
    const fault = faultOf(event);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The fault of something that is no list. */
export function listFault(made: unknown): EventFault {
  return { is: isPromise(made) ? "a promise" : nameOf(made), wanted: "a list of events" };
}

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** The fault of what was made of an event; undefined when it is one. What it has in common is not looked at again. */
export function eventFault(made: unknown, before: Event | undefined): EventFault | undefined {
  if (typeof made !== "object" || made === null) return { is: nameOf(made) };
  if (isPromise(made)) return { is: "a promise" };
  if (!("headers" in made) || typeof made.headers !== "object" || made.headers === null) {
    return { is: "an object without headers" };
  }
  if (!("body" in made)) return { is: "an event without body" };
  const headers = made.headers === before?.headers ? undefined : headerFault(made.headers);
  if (headers !== undefined) return headers;
  return before !== undefined && made.body === before.body ? undefined : bodyFault(made.body, []);
}

/** The fault of the headers of an event; undefined when all are texts. */
export function headerFault(headers: object): EventFault | undefined {
  if (!hasNames(headers)) return { is: "an event with a list as headers" };
  // For every event that an interceptor makes: a list of the values would cost more than the interceptor.
  for (const name in headers) {
    const value = headers[name];
    if (typeof value !== "string" && Object.hasOwn(headers, name))
      return { is: `an event with ${nameOf(value)} as header`, at: name };
  }
  return undefined;
}

function hasNames(headers: object): headers is Readonly<Record<string, unknown>> {
  return !Array.isArray(headers);
}

/** What JSON would leave out, change or refuse: a durable channel could not keep it. */
function bodyFault(value: unknown, path: readonly string[]): EventFault | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return undefined;
  if (path.length > DEEPEST)
    return { is: `an event with a body deeper than ${DEEPEST} levels, or that contains itself` };
  if (typeof value !== "object" || !isPlain(value)) {
    const at = path.length === 0 ? {} : { at: path.join(".") };
    return { is: `an event with ${nameOf(value)} in its body`, ...at };
  }
  for (const [name, member] of Object.entries(value)) {
    // A member that is undefined counts as absent.
    const fault = member === undefined && !Array.isArray(value) ? undefined : bodyFault(member, [...path, name]);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "undefined";
  if (value instanceof Promise) return "a promise";
  if (typeof value === "object") return isPlain(value) ? "an object" : `an object of a class (${classOf(value)})`;
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : "a number that JSON cannot hold";
  return `a ${typeof value}`;
}

function classOf(value: object): string {
  const { name }: { readonly name: unknown } = value.constructor ?? { name: undefined };
  return typeof name === "string" ? name : "unknown";
}
