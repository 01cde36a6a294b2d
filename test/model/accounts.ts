import assert from "node:assert/strict";
import type { ModelAgent } from "./model-agent.js";
import type { ModelStore } from "./model-store.js";

/** The reference: what was accepted, and what must have become of it. */
export class Accounts {
  #next = 1;
  readonly #accepted = new Set<number>();
  /** Events that were accepted before something that may lose what was only in memory. */
  readonly #atRisk = new Set<number>();
  /** Events that two agents may store: an operator said so, or they waited behind a sink group when it was copied. */
  readonly #twice = new Set<number>();
  #copied: readonly number[] = [];
  #twins = false;

  /** Whether there was a second agent. */
  get twins(): boolean {
    return this.#twins;
  }

  newIds(count: number): readonly number[] {
    const ids = Array.from({ length: count }, (_, index) => this.#next + index);
    this.#next += count;
    return ids;
  }

  accept(ids: readonly number[]): void {
    for (const id of ids) this.#accepted.add(id);
  }

  /** The process ended with events that were in memory alone. */
  mayLose(): void {
    for (const id of this.#accepted) this.#atRisk.add(id);
  }

  copied(): void {
    this.#twins = true;
    this.#copied = Array.from({ length: this.#next - 1 }, (_, index) => index + 1);
  }

  /** What was there when the copy was made may be stored by both. */
  mayBeStoredByBoth(): void {
    for (const id of this.#copied) this.#twice.add(id);
  }

  /** The record of what is stored is gone: those that wait, the last ones, may be stored by a batch that did not leave the channel. */
  forgotten(waiting: number, { rows }: ModelStore): void {
    // A put that a crash has cut off may be in the channel, too.
    const ids = [...new Set([...this.#accepted, ...rows.map(({ id }) => id)])].sort((one, other) => other - one);
    for (const id of ids.slice(0, waiting)) this.#twice.add(id);
  }

  checkNothingTwice({ rows }: ModelStore): void {
    const counts = countsOf(rows.map(({ id }) => id));
    const doubled = [...counts].filter(([id, count]) => count > 1 && !this.#twice.has(id)).map(([id]) => id);
    assert.deepEqual(doubled, [], "events with two rows");
  }

  /** Everything is settled: holds rows and letters against what was accepted. */
  async takeStock({ channel, ledger, letters }: ModelAgent, store: ModelStore): Promise<void> {
    assert.equal(channel.size, 0, "events that still wait");
    this.checkNothingTwice(store);
    const kept: number[] = [];
    for await (const { event } of letters.open()) kept.push(Number(event.body));
    const rows = new Set(store.rows.map(({ id }) => id));
    const open = countsOf(kept);
    const ends = (id: number) => (rows.has(id) ? 1 : 0) + (open.get(id) ?? 0);
    const all = Array.from({ length: this.#next - 1 }, (_, index) => index + 1).filter((id) => !this.#twice.has(id));
    assert.deepEqual(
      all.filter((id) => ends(id) > 1),
      [],
      "events with a row and a letter, or two letters",
    );
    const lost = [...this.#accepted].filter((id) => ends(id) === 0 && !this.#atRisk.has(id));
    assert.deepEqual(lost, [], "events that were accepted and are neither rows nor letters");
    assert.equal(ledger.unaccounted, 0, "unaccounted events in the ledger");
  }

  /** Rows of events that were not replayed stand in the order in which these were accepted. */
  checkOrder({ rows }: ModelStore): void {
    const ids = rows.filter(({ letter }) => letter === undefined).map(({ id }) => id);
    const early = ids.filter((id, index) => index > 0 && id < (ids[index - 1] ?? 0));
    assert.deepEqual(early, [], "rows out of order");
  }
}

function countsOf(ids: readonly number[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}
