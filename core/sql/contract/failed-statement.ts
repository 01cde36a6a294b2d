import type { Statement } from "./statement.js";

const failed = new WeakMap<object, Statement>();
/** A chain of causes may end nowhere. */
const MOST_CAUSES = 10;

/**
 * For the `write` of a driver: notes which of its statements the database refused, and returns the error. Then the sink looks for the
 * event that is the reason in the table of that statement alone.
 * @beta
 */
export function refusedAt<Thrown>(error: Thrown, statement: Statement | undefined): Thrown {
  if (typeof error === "object" && error !== null && statement !== undefined) failed.set(error, statement);
  return error;
}

/** The statement that was noted for an error or one of its causes. */
export function statementOf(error: unknown): Statement | undefined {
  for (const cause of causesOf(error)) {
    const statement = failed.get(cause);
    if (statement !== undefined) return statement;
  }
  return undefined;
}

/** An error, then its cause, and so on. */
export function* causesOf(error: unknown): Generator<object> {
  let cause = error;
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === "object" && cause !== null; depth += 1) {
    yield cause;
    cause = "cause" in cause ? cause.cause : undefined;
  }
}
