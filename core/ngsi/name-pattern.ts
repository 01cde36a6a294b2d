import { RE2JS, RE2JSException } from "re2js";
import { AgentError } from "../sdk/index.js";

const LONGEST_PATTERN = 1000;
const LARGEST_PROGRAM = 10_000;

/**
 * A regular expression that a whole name must match. The engine is RE2: it takes time in proportion to the length of
 * the name, whatever the expression is, and knows no lookaround and no back references.
 */
export class NamePattern {
  readonly text: string;
  readonly #regex: RE2JS;
  /** An expression without special characters is compared as it is. */
  readonly #literal: boolean;

  /** Throws code `INVALID_PATTERN`. */
  constructor(text: string) {
    this.text = text;
    this.#regex = compiled(text);
    this.#literal = !/[\\^$.|?*+()[\]{}]/.test(text);
  }

  get groupCount(): number {
    return this.#regex.groupCount();
  }

  /** The number of a named group; undefined when there is none of that name. */
  groupNamed(name: string): number | undefined {
    const groups = new Map(Object.entries<unknown>(this.#regex.namedGroups()));
    const number = groups.get(name);
    return typeof number === "number" ? number : undefined;
  }

  matches(name: string): boolean {
    return this.#literal ? name === this.text : this.#regex.matches(name);
  }

  /** The whole name, then the text of each group, empty for one that took no part; undefined without a match. */
  groups(name: string): readonly string[] | undefined {
    if (this.#literal) return name === this.text ? [name] : undefined;
    const matcher = this.#regex.matcher(name);
    if (!matcher.matches()) return undefined;
    return Array.from({ length: this.groupCount + 1 }, (_, group) => matcher.group(group) ?? "");
  }
}

function compiled(text: string): RE2JS {
  if (text.length > LONGEST_PATTERN) throw invalid(text, `it is longer than ${LONGEST_PATTERN} characters`);
  const regex = parsed(text);
  if (regex.programSize() > LARGEST_PROGRAM) throw invalid(text, "its repetitions make it too large");
  return regex;
}

function parsed(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (cause) {
    if (cause instanceof RE2JSException) throw invalid(text, cause.message, cause);
    throw cause;
  }
}

const LONGEST_SHOWN = 60;

function invalid(text: string, reason: string, cause?: unknown): AgentError {
  const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
  return new AgentError("INVALID_PATTERN", `compiling the regular expression "${shown}": ${reason}`, { cause });
}
