/**
 * A map of few entries that come and go with each batch, in place of `Map`. V8 gives a Map another table again and again as
 * entries are removed, and each table refers to the next one: once one has reached the old generation, all that follow do, with
 * what they held, until a full collection (decision 0203).
 */
export class FewEntries<Key, Value> {
  readonly #keys: Key[] = [];
  readonly #values: Value[] = [];

  get size(): number {
    return this.#keys.length;
  }

  /** In the order in which they came. */
  get keys(): readonly Key[] {
    return [...this.#keys];
  }

  /** In the same order. */
  get values(): readonly Value[] {
    return [...this.#values];
  }

  set(key: Key, value: Value): void {
    const known = this.#keys.indexOf(key);
    const at = known === -1 ? this.#keys.push(key) - 1 : known;
    this.#values[at] = value;
  }

  delete(key: Key): void {
    const at = this.#keys.indexOf(key);
    if (at === -1) return;
    this.#keys.splice(at, 1);
    this.#values.splice(at, 1);
  }
}
