import { causesOf } from "./failed-statement.js";

const notedErrors = new WeakSet<object>();

/**
 * For the `write` of a driver: notes that the commit was sent and not confirmed, so that only the database knows whether it was made. Until it can be
 * asked the events become no dead letters. Returns what is to be thrown.
 * @beta
 */
export function unansweredCommit(error: unknown): object {
  const noted = typeof error === "object" && error !== null ? error : new Error(String(error));
  notedErrors.add(noted);
  return noted;
}

/** Whether that was noted for an error or one of its causes. */
export function isUnansweredCommit(error: unknown): boolean {
  for (const cause of causesOf(error)) if (notedErrors.has(cause)) return true;
  return false;
}
