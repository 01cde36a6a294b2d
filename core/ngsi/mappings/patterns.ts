import { RE2JS, RE2JSException } from "re2js";
import { AgentError } from "../../sdk/index.js";

/**
 * A regular expression that may match anywhere in a text. The engine is RE2: it takes time in proportion to the
 * length of the text, whatever the expression is, and knows no lookaround and no back references.
 * @stable
 */
export class TextPattern {
  readonly text: string;
  readonly #regex: RE2JS;

  /** Throws code `INVALID_PATTERN`. */
  constructor(text: string) {
    this.text = text;
    this.#regex = compiled(text);
  }

  get groupCount(): number {
    return this.#regex.groupCount();
  }

  /** The number of a named group; undefined when there is none of that name. */
  groupNamed(name: string): number | undefined {
    return groupNamed(this.#regex, name);
  }

  /** True when some part of the text matches. */
  isIn(text: string): boolean {
    return this.#regex.matcher(text).find();
  }

  /** True when the text matches as a whole. */
  isAll(text: string): boolean {
    return this.#regex.matches(text);
  }

  /** The first match, then its groups, undefined for one that took no part; undefined without a match. */
  groups(text: string): readonly (string | undefined)[] | undefined {
    const matcher = this.#regex.matcher(text);
    if (!matcher.find()) return undefined;
    return groupsOf(matcher, this.groupCount);
  }

  /**
   * Returns a function that replaces every match in a text: `$1` and `${name}` stand for groups, `$0` for the match, `\$` for a
   * dollar. Throws code `INVALID_TEMPLATE` when the replacement names a group that does not exist.
   */
  replacer(replacement: string): (text: string) => string {
    const template = new NameTemplate(replacement, this);
    return (text) => {
      const matcher = this.#regex.matcher(text);
      const parts: string[] = [];
      let from = 0;
      while (matcher.find()) {
        parts.push(text.slice(from, matcher.start()), template.expand(groupsOf(matcher, this.groupCount)));
        from = matcher.end();
      }
      return from === 0 && parts.length === 0 ? text : parts.join("") + text.slice(from);
    };
  }

  /** The parts of the text between the matches. */
  split(text: string): readonly string[] {
    return this.#regex.split(text);
  }
}

type Matcher = ReturnType<RE2JS["matcher"]>;

function groupsOf(matcher: Matcher, count: number): readonly (string | undefined)[] {
  return Array.from({ length: count + 1 }, (_, group) => matcher.group(group) ?? undefined);
}

/**
 * A regular expression that a whole name must match. The engine is RE2: it takes time in proportion to the length of
 * the name, whatever the expression is, and knows no lookaround and no back references.
 */
export class NamePattern {
  readonly text: string;
  readonly #regex: RE2JS;
  /** An expression without special characters is compared as text. */
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
    return groupNamed(this.#regex, name);
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

function groupNamed(regex: RE2JS, name: string): number | undefined {
  const groups = new Map(Object.entries<unknown>(regex.namedGroups()));
  const number = groups.get(name);
  return typeof number === "number" ? number : undefined;
}

/** What a template must know of its pattern. */
interface Groups {
  readonly text: string;
  readonly groupCount: number;
  groupNamed(name: string): number | undefined;
}

/** A new name that may hold parts of the old one: `$1` or `${group}` for a group of its pattern, `$0` for all of it. */
export class NameTemplate {
  readonly #parts: readonly (string | number)[];

  /** Throws code `INVALID_TEMPLATE` when it asks for a group that the pattern does not have. */
  constructor(text: string, pattern: Groups) {
    this.#parts = [...text.matchAll(PARTS)].flatMap((match) => partsOf(match, pattern));
  }

  /** The new name, of what `groups` of the pattern gave. */
  expand(groups: readonly (string | undefined)[]): string {
    return this.#parts.map((part) => (typeof part === "number" ? groups[part] : part)).join("");
  }
}

// An escaped character, a numbered group, a named group, or a plain character.
const PARTS = /\\(?<escaped>.)|\$(?<number>\d+)|\$\{(?<name>\w+)\}|(?<plain>.)/gsu;

function partsOf({ groups = {} }: RegExpExecArray, pattern: Groups): readonly (string | number)[] {
  const { escaped, number, name, plain } = groups;
  if (number !== undefined) return numbered(number, pattern);
  if (name !== undefined) return [named(name, pattern)];
  return [escaped ?? plain ?? ""];
}

/** As many of the digits as give a group that exists, as in Java: with one group `$12` is the group and a `2`. */
function numbered(digits: string, pattern: Groups): readonly (string | number)[] {
  for (let end = digits.length; end > 0; end -= 1) {
    const group = Number(digits.slice(0, end));
    if (group <= pattern.groupCount) return [group, digits.slice(end)];
  }
  throw missing(`$${digits}`, pattern);
}

function named(name: string, pattern: Groups): number {
  const group = pattern.groupNamed(name);
  if (group === undefined) throw missing(`\${${name}}`, pattern);
  return group;
}

function missing(group: string, { text }: Groups): AgentError {
  return new AgentError("INVALID_TEMPLATE", `using "${group}" in a new name: the pattern "${text}" has no such group`, {
    retryable: false,
  });
}

const LONGEST_PATTERN = 1000;
const LARGEST_PROGRAM = 10_000;

/** A regular expression of RE2, ready to use; throws code `INVALID_PATTERN`. */
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
  return new AgentError("INVALID_PATTERN", `compiling the regular expression "${shown}": ${reason}`, {
    cause,
    retryable: false,
  });
}
