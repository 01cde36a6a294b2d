import type { RE2JS } from "re2js";
import { compiled } from "./compiled-pattern.js";
import { NameTemplate } from "./name-template.js";

/**
 * A regular expression that is looked for anywhere in a text. The engine is RE2: it takes time in proportion to the
 * length of the text, whatever the expression is, and knows no lookaround and no back references.
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
    const groups = new Map(Object.entries<unknown>(this.#regex.namedGroups()));
    const number = groups.get(name);
    return typeof number === "number" ? number : undefined;
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
   * Makes what replaces every match in a text: `$1` and `${name}` stand for groups, `$0` for the match, `\$` for a
   * dollar. Throws code `INVALID_TEMPLATE` when the replacement asks for a group that is not there.
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
