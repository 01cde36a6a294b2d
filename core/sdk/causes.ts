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

/** A proxy of somebody may throw when it is asked what it is. */
export function isError(thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error;
  } catch {
    return false;
  }
}

/** Somebody may throw what cannot be made a text, or an error whose message is none. */
export function messageOf(thrown: unknown): string {
  try {
    const message = withSystemNames(textOf(thrown));
    // A host with several addresses fails with an AggregateError, whose own message is empty.
    if (message !== "" || !(thrown instanceof AggregateError)) return message;
    return thrown.errors.slice(0, MOST_CAUSES).map(messageOf).join(", ");
  } catch {
    return "something was thrown that cannot be made a text";
  }
}

/** Node numbers errors of the system that it has no name for. */
const UNNAMED = /Unknown system error -(\d+)(: Unknown system error -\1)?/g;

/** Those of Linux that disks give: of a quota, of a network file system, of a damaged one. */
const unnamed: ReadonlyMap<string, readonly [name: string, meaning: string]> = new Map([
  ["116", ["ESTALE", "stale file handle"]],
  ["117", ["EUCLEAN", "structure needs cleaning"]],
  ["122", ["EDQUOT", "disk quota exceeded"]],
]);

/** The text with the names of such errors, and what they mean. */
export function withSystemNames(text: string): string {
  if (!text.includes("Unknown system error -")) return text;
  return text.replace(UNNAMED, (found: string, number: string, explained: string | undefined) => {
    const [name, meaning] = unnamed.get(number) ?? [found];
    return explained === undefined || meaning === undefined ? name : `${name}: ${meaning}`;
  });
}

/** Where an error and its causes were made, without their other members: those of a client may hold a password or a token. */
export function stacksOf(error: unknown): string {
  return error === undefined ? messageOf(error) : causesOf(error).map(stackOf).join("\ncaused by: ");
}

function stackOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error && typeof thrown.stack === "string" && thrown.stack !== "") return thrown.stack;
  } catch {
    // Its stack is a getter of somebody that throws.
  }
  return messageOf(thrown);
}

/** What was thrown as the cause of an error: one that is undefined would be none. */
export function thrownCause(thrown: unknown): unknown {
  return thrown === undefined ? new Error("undefined was thrown") : thrown;
}

/** Some clients reject with an object that has the members of an error and is none. */
function textOf(thrown: unknown): string {
  if (thrown instanceof Error) return String(thrown.message);
  if (typeof thrown !== "object" || thrown === null) return String(thrown);
  if ("message" in thrown && typeof thrown.message === "string") return thrown.message;
  const text = String(thrown);
  if (text !== "[object Object]") return text;
  return `an object that is no error was thrown, with ${Object.keys(thrown).slice(0, MOST_CAUSES).join(", ") || "no members"}`;
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}
