import { AgentError, codeOf, reasonOf, retryableOf } from "../sdk/index.js";

/** What the error of a component has to say; absent members may be anything. */
export interface Expected {
  readonly code?: string;
  readonly retryable?: boolean;
  /** A text that its message holds. */
  readonly says?: string;
}

/** Rejects unless the promise rejects with such an error; what came instead is the cause. */
export async function rejectsAs(promise: Promise<unknown>, what: string, expected: Expected): Promise<void> {
  let result: { readonly error: unknown } | undefined;
  try {
    await promise;
  } catch (error) {
    result = { error };
  }
  if (result === undefined) throw failure(`${what} must fail with ${list(expected)}; it did not fail`);
  const actual = actualOf(result.error, expected);
  if (list(actual) === list(expected)) return;
  throw failure(`${what} must fail with ${list(expected)}; it failed with ${list(actual)}`, result.error);
}

/** Throws unless the store holds exactly what it should, each once; those of one entity in order. */
export function assertStored(
  stored: readonly string[],
  wanted: readonly string[],
  order: "in order" | "in any order" = "in order",
): void {
  assertOnce(stored, wanted, {
    missing: "not stored, although the sink said so",
    there: "stored",
    given: "written",
    order,
  });
}

/** Throws unless a source has emitted exactly what it took, each once and in order. */
export function assertEmitted(emitted: readonly unknown[], taken: readonly string[]): void {
  const missing = "not emitted, although its sender was told that it is sent";
  assertOnce(emitted.map(String), taken, { missing, there: "emitted", given: "sent", order: "in order" });
}

/** The same where what was sent may be emitted more than once: the first time of each counts. */
export function assertEmittedAgain(emitted: readonly unknown[], taken: readonly string[]): void {
  assertEmitted([...new Set(emitted)], taken);
}

interface Said {
  readonly missing: string;
  readonly there: string;
  readonly given: string;
  readonly order: "in order" | "in any order";
}

function assertOnce(found: readonly string[], wanted: readonly string[], { missing, there, given, order }: Said): void {
  const lists = [
    [missing, wanted.filter((mark) => !found.includes(mark))],
    [`${there} more than once`, found.filter((mark, at) => wanted.includes(mark) && found.indexOf(mark) < at)],
    [`${there} and never ${given}`, found.filter((mark) => !wanted.includes(mark))],
  ] as const;
  const faults = lists.flatMap(([says, marks]) => (marks.length === 0 ? [] : [`${says}: ${marksText(marks)}`]));
  if (faults.length > 0) throw failure(faults.join("; "));
  const from = found.findIndex((mark, at) => mark !== wanted[at]);
  if (order === "in any order" || from < 0) return;
  const after = from === 0 ? "" : `after ${marksText(found.slice(from - 1, from))} came `;
  // From the first difference: lists are cut.
  const marks = `${marksText(found.slice(from))} instead of ${marksText(wanted.slice(from))}`;
  throw failure(`${there} in another order than ${given}: ${after}${marks}`);
}

const MOST_MARKS = 10;
const LONGEST_MARK = 60;

function marksText(marks: readonly string[]): string {
  const texts = [...new Set(marks)].map((mark) => JSON.stringify(mark.slice(0, LONGEST_MARK)));
  return [...texts.slice(0, MOST_MARKS), ...(texts.length > MOST_MARKS ? ["and more"] : [])].join(", ");
}

/** The error of a case that failed. */
export function failure(message: string, cause?: unknown): AgentError {
  return new AgentError("NOT_CONFORMING", message, { retryable: false, ...(cause === undefined ? {} : { cause }) });
}

/** The members of an error that are expected. */
function actualOf(error: unknown, expected: Expected): Expected {
  const { says } = expected;
  return Object.fromEntries([
    ...("code" in expected ? [["code", codeOf(error)]] : []),
    ...("retryable" in expected ? [["retryable", retryableOf(error)]] : []),
    ...(says === undefined ? [] : [["says", reasonOf(error).includes(says) ? says : "something else"]]),
  ]);
}

function list(expected: Expected): string {
  return ["code", "retryable", "says"]
    .filter((name) => Object.hasOwn(expected, name))
    .map((name) => `${name} ${JSON.stringify(Reflect.get(expected, name)) ?? "undefined"}`)
    .join(" and ");
}
