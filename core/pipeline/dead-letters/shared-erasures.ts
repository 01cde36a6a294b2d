import type { Erasures, KeptErasure } from "../erasures.js";

/**
 * The erasures of the agents that share a log. What one of them is to leave out may be taken by any other: so each of them
 * keeps all, and the log has an entry of each for as long as an agent keeps it.
 */
export class SharedErasures {
  readonly #erasures: Pick<Erasures, "all" | "take">;
  /** By text: the offset of its newest entry. */
  readonly #entries = new Map<string, number>();

  constructor(erasures: Pick<Erasures, "all" | "take">) {
    this.#erasures = erasures;
  }

  /** Takes over what an entry says; on disk when it resolves. */
  async takeOver(erasure: KeptErasure, offset: number): Promise<void> {
    await this.#erasures.take(erasure);
    this.#entries.set(textOf(erasure), offset);
  }

  /** Those that the log does not have. */
  missing(): readonly KeptErasure[] {
    return this.#erasures.all.filter((erasure) => !this.#entries.has(textOf(erasure)));
  }

  /** The offset of the oldest entry that is still needed; undefined when there is none. */
  oldest(): number | undefined {
    const kept = new Set(this.#erasures.all.map(textOf));
    let oldest: number | undefined;
    for (const [text, offset] of this.#entries) if (kept.has(text)) oldest = Math.min(offset, oldest ?? offset);
    return oldest;
  }

  /** Entries before this offset may be missing from now on. */
  forget(before: number): void {
    for (const [text, offset] of this.#entries) if (offset < before) this.#entries.delete(text);
  }

  /** The log is another one. */
  clear(): void {
    this.#entries.clear();
  }
}

function textOf({ entity, service, time }: KeptErasure): string {
  return JSON.stringify([entity, service, time]);
}
