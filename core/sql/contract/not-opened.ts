import { causesOf } from "./failed-statement.js";

const notedErrors = new WeakSet<object>();

/**
 * For a driver: notes that an error kept it from running any statement of its caller, whatever its code says: that of a connection that
 * cannot be opened, of the settings of its session, or of the begin of a transaction. The store counts as unavailable then, and no event
 * becomes a dead letter for it. Returns what is to be thrown. {@link oneConnection} does so by itself.
 * @beta
 */
export function notOpened(error: unknown): object {
  const noted = typeof error === "object" && error !== null ? error : new Error(String(error));
  notedErrors.add(noted);
  return noted;
}

/** Whether that was noted for an error or one of its causes. */
export function isNotOpened(error: unknown): boolean {
  for (const cause of causesOf(error)) if (notedErrors.has(cause)) return true;
  return false;
}
