import { AgentError } from "../sdk/index.js";

/** What a template must know of its pattern. */
export interface Groups {
  readonly text: string;
  readonly groupCount: number;
  groupNamed(name: string): number | undefined;
}

/** A new name that may hold parts of the old one: `$1` or `${group}` for a group of its pattern, `$0` for all of it. */
export class NameTemplate {
  readonly #parts: readonly (string | number)[];

  /** Throws code `INVALID_TEMPLATE` when it asks for a group that the pattern does not have. */
  constructor(text: string, pattern: Groups) {
    this.#parts = [...text.matchAll(PARTS)].map((match) => partOf(match, pattern));
  }

  /** The new name, of what `groups` of the pattern gave. */
  expand(groups: readonly (string | undefined)[]): string {
    return this.#parts.map((part) => (typeof part === "number" ? groups[part] : part)).join("");
  }
}

// An escaped character, a numbered group, a named group, or a character as it is.
const PARTS = /\\(?<escaped>.)|\$(?<number>\d+)|\$\{(?<name>\w+)\}|(?<plain>.)/gsu;

function partOf({ groups = {} }: RegExpExecArray, pattern: Groups): string | number {
  const { escaped, number, name, plain } = groups;
  if (number !== undefined) return numbered(Number(number), pattern);
  if (name !== undefined) return named(name, pattern);
  return escaped ?? plain ?? "";
}

function numbered(group: number, pattern: Groups): number {
  if (group <= pattern.groupCount) return group;
  throw missing(`$${group}`, pattern);
}

function named(name: string, pattern: Groups): number {
  const group = pattern.groupNamed(name);
  if (group === undefined) throw missing(`\${${name}}`, pattern);
  return group;
}

function missing(group: string, { text }: Groups): AgentError {
  return new AgentError("INVALID_TEMPLATE", `using "${group}" in a new name: the pattern "${text}" has no such group`);
}
