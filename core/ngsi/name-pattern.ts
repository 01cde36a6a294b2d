import type { RE2JS } from "re2js";
import { compiled } from "./compiled-pattern.js";

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
