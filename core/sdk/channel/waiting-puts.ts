/** Something that waits for room. */
export interface WaitingPut<Item> {
  readonly item: Item;
  /** Ends the waiting: true when it was let in. */
  settle(admitted: boolean): void;
}

/** Puts that wait for room, first come first served, each until its patience ends. */
export class WaitingPuts<Item> {
  readonly #waiting = new Set<WaitingPut<Item>>();
  readonly #patienceMillis: number;

  constructor(patienceMillis: number) {
    this.#patienceMillis = patienceMillis;
  }

  get first(): WaitingPut<Item> | undefined {
    return this.#waiting.size === 0 ? undefined : this.#waiting.values().next().value;
  }

  /** Resolves to false when there was no room in time. */
  wait(item: Item): Promise<boolean> {
    if (this.#patienceMillis === 0) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(() => put.settle(false), this.#patienceMillis);
      const put: WaitingPut<Item> = {
        item,
        settle: (admitted) => {
          clearTimeout(timer);
          this.#waiting.delete(put);
          resolve(admitted);
        },
      };
      this.#waiting.add(put);
    });
  }

  refuseAll(): void {
    for (const put of this.#waiting) put.settle(false);
  }
}
