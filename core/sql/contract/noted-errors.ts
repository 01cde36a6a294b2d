import type { Statement } from "./statement.js";

const refusedStatements = new WeakMap<object, Statement>();
const notOpenedErrors = new WeakSet<object>();
const unansweredCommits = new WeakSet<object>();

/**
 * For the `write` of a driver: notes which of its statements the database refused, and returns the error. Then the sink looks for the
 * event that is the reason in the table of that statement alone.
 * @beta
 */
export function refusedAt<Thrown>(error: Thrown, statement: Statement | undefined): Thrown {
  if (typeof error === "object" && error !== null && statement !== undefined) refusedStatements.set(error, statement);
  return error;
}

/** The statement that was noted for an error or one of its causes. */
export function statementOf(error: unknown): Statement | undefined {
  for (const cause of causesOf(error)) {
    const statement = refusedStatements.get(cause);
    if (statement !== undefined) return statement;
  }
  return undefined;
}

/**
 * For a driver: notes that an error kept it from running any statement of its caller, whatever its code says: that of a connection that
 * cannot be opened, of the settings of its session, or of the begin of a transaction. The store counts as unavailable then, and no event
 * becomes a dead letter for it. Returns what is to be thrown. {@link oneConnection} does so by itself.
 * @beta
 */
export function notOpened(error: unknown): object {
  return notedIn(notOpenedErrors, error);
}

/** Whether that was noted for an error or one of its causes. */
export function isNotOpened(error: unknown): boolean {
  return isNotedIn(notOpenedErrors, error);
}

/**
 * For the `write` of a driver: notes that the commit was sent and not confirmed, so that only the database knows whether it was made. Until it can be
 * asked the events become no dead letters. Returns what is to be thrown.
 * @beta
 */
export function unansweredCommit(error: unknown): object {
  return notedIn(unansweredCommits, error);
}

/** Whether that was noted for an error or one of its causes. */
export function isUnansweredCommit(error: unknown): boolean {
  return isNotedIn(unansweredCommits, error);
}

function notedIn(noted: WeakSet<object>, error: unknown): object {
  const thrown = typeof error === "object" && error !== null ? error : new Error(String(error));
  noted.add(thrown);
  return thrown;
}

function isNotedIn(noted: WeakSet<object>, error: unknown): boolean {
  for (const cause of causesOf(error)) if (noted.has(cause)) return true;
  return false;
}

/** A chain of causes may end nowhere. */
const MOST_CAUSES = 10;

/** An error, then its cause, and so on. */
function* causesOf(error: unknown): Generator<object> {
  let cause = error;
  for (let depth = 0; depth < MOST_CAUSES && typeof cause === "object" && cause !== null; depth += 1) {
    yield cause;
    cause = "cause" in cause ? cause.cause : undefined;
  }
}
