import { codeOf, reasonOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { mayBeAboutData } from "./kinds-of-failure.js";

const REMEMBERED_MILLIS = 60_000;
const MOST_KINDS = 100;
/** Of a reason, which may quote a value, however large. */
const MOST_CHARACTERS = 500;

/**
 * The kinds of failure for which events became dead letters within the last minute while the store took others. A batch that fails in
 * such a way is searched at once: its tries would only show once more that this does not pass.
 */
export class RecentVerdicts {
  /** When each kind was noted last, in milliseconds; the oldest first. */
  readonly #notedAt = new Map<string, number>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(error: unknown): void {
    const kind = looseKindOf(error);
    this.#notedAt.delete(kind);
    this.#notedAt.set(kind, this.#clock.now().getTime());
    const [oldest] = this.#notedAt.keys();
    if (this.#notedAt.size > MOST_KINDS && oldest !== undefined) this.#notedAt.delete(oldest);
  }

  has(error: unknown): boolean {
    const notedAt = mayBeAboutData(error) ? this.#notedAt.get(looseKindOf(error)) : undefined;
    return notedAt !== undefined && Math.abs(this.#clock.now().getTime() - notedAt) < REMEMBERED_MILLIS;
  }
}

/** The same for failures that differ only in quoted texts and in words with digits, such as the id of an entity. */
function looseKindOf(error: unknown): string {
  const words = reasonOf(error)
    .slice(0, MOST_CHARACTERS)
    .replaceAll(/"[^"]*"|'[^']*'/g, "#")
    .split(/\s+/);
  return `${codeOf(error)} ${words.map((word) => (/\d/.test(word) ? "#" : word)).join(" ")}`;
}
