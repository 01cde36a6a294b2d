/** The ids that were added last, this number at least and twice as many at most. */
export class NewestIds {
  readonly #least: number;
  #ids = new Set<string>();
  #before: ReadonlySet<string> = new Set();

  constructor(least: number) {
    this.#least = least;
  }

  has(id: string): boolean {
    return this.#ids.has(id) || this.#before.has(id);
  }

  add(id: string): void {
    if (this.#ids.size === this.#least) {
      this.#before = this.#ids;
      this.#ids = new Set();
    }
    this.#ids.add(id);
  }
}
