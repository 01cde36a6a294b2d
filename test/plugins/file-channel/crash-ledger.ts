/** What a process said it did with numbered events, over all its lives. */
export class CrashLedger {
  readonly putting = new Map<number, readonly number[]>();
  readonly put = new Set<number>();
  readonly committing = new Set<number>();
  readonly committed = new Set<number>();
  /** Events that were delivered after their commit had resolved. */
  readonly seenAgain = new Set<number>();

  note(line: string): void {
    const [what = "", ...words] = line.trim().split(" ");
    const ids = words.map(Number);
    if (what === "putting") for (const id of ids) this.putting.set(id, ids);
    if (what === "put") for (const id of ids) this.put.add(id);
    if (what === "taken") this.deliver(ids);
    if (what === "committing") for (const id of ids) this.committing.add(id);
    if (what === "committed") for (const id of ids) this.committed.add(id);
  }

  deliver(ids: readonly number[]): void {
    for (const id of ids.filter((one) => this.committed.has(one))) this.seenAgain.add(id);
  }

  /** Acknowledged events that are neither in the channel nor on their way out of it. */
  lost(left: ReadonlySet<number>): readonly number[] {
    return [...this.put].filter((id) => !left.has(id) && !this.committing.has(id));
  }

  /** Events whose put was cut off, of which the channel has some and not all. */
  torn(left: ReadonlySet<number>): readonly number[] {
    const has = (id: number) => left.has(id) || this.committing.has(id);
    return [...left].filter((id) => !(this.putting.get(id) ?? [id]).every(has));
  }

  get highest(): number {
    return Math.max(0, ...this.putting.keys());
  }
}
