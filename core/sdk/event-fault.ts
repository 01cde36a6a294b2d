import type { Event } from "./event.js";

/** False for anything that is not an object with headers, such as a text or a promise. */
export function isEvent(value: unknown): value is Event {
  if (typeof value !== "object" || value === null || !("headers" in value)) return false;
  return typeof value.headers === "object" && value.headers !== null;
}

/** What is wrong with something that should be an event. */
interface EventFault {
  /** What it is instead, for example `a promise`; one of a few texts. */
  readonly is: string;
  /** Where, when that is a header or a part of the body. */
  readonly at?: string;
}

const DEEPEST = 1000;

/** The fault of what was made of an event; undefined when it is one. What it has in common is not looked at again. */
export function eventFault(made: unknown, before: Event): EventFault | undefined {
  if (typeof made !== "object" || made === null) return { is: nameOf(made) };
  if ("then" in made && typeof made.then === "function") return { is: "a promise" };
  if (!("headers" in made) || typeof made.headers !== "object" || made.headers === null) {
    return { is: "an object without headers" };
  }
  if (!("body" in made)) return { is: "an event without body" };
  const headers = made.headers === before.headers ? undefined : headerFault(made.headers);
  if (headers !== undefined) return headers;
  return made.body === before.body ? undefined : bodyFault(made.body, []);
}

function headerFault(headers: object): EventFault | undefined {
  if (Array.isArray(headers)) return { is: "an event with a list as headers" };
  // For every event that an interceptor makes: a list of pairs would cost more than the interceptor.
  if (Object.values(headers).every((value) => typeof value === "string")) return undefined;
  const wrong = Object.entries(headers).find(([, value]) => typeof value !== "string");
  return wrong === undefined ? undefined : { is: `an event with ${nameOf(wrong[1])} as header`, at: wrong[0] };
}

/** What JSON would leave out, change or refuse: a durable channel could not keep it. */
function bodyFault(value: unknown, path: readonly string[]): EventFault | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    return undefined;
  if (path.length > DEEPEST)
    return { is: `an event with a body deeper than ${DEEPEST} levels, or that contains itself` };
  if (typeof value !== "object" || !isPlain(value)) {
    return { is: `an event with ${nameOf(value)} in its body`, at: path.join(".") };
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
  if (typeof value === "object")
    return value instanceof Promise ? "a promise" : `an object of a class (${classOf(value)})`;
  if (typeof value === "number") return Number.isFinite(value) ? "a number" : "a number that JSON cannot hold";
  return `a ${typeof value}`;
}

function classOf(value: object): string {
  const { name }: { readonly name: unknown } = value.constructor ?? { name: undefined };
  return typeof name === "string" ? name : "unknown";
}
