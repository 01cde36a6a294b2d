/** Causes that are looked at, and errors of an AggregateError. */
const MOST_CAUSES = 10;

/** The error and what caused it, the outermost first. Somebody may have made a circle of causes. */
export function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let one = error; one !== undefined && causes.length < MOST_CAUSES; one = causeOf(one)) {
    if (causes.includes(one)) break;
    causes.push(one);
  }
  return causes;
}

/** Somebody may throw what cannot be made a text, or an error whose message is none. */
export function messageOf(thrown: unknown): string {
  try {
    const message = String(thrown instanceof Error ? thrown.message : thrown);
    // A host with several addresses fails with an AggregateError, whose own message is empty.
    if (message !== "" || !(thrown instanceof AggregateError)) return message;
    return thrown.errors.slice(0, MOST_CAUSES).map(messageOf).join(", ");
  } catch {
    return "something was thrown that cannot be made a text";
  }
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}
