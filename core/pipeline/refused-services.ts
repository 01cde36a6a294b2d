/** Stands for all services beyond the maximum that are counted separately. */
const OTHER = "(other)";

const MOST_SERVICES = 1000;

/** Refusals by service, for those that are refused because of what their service sent or holds. */
export class RefusedServices {
  readonly #counts = new Map<string, number>();

  add(service: string): void {
    const key = this.#counts.has(service) || this.#counts.size < MOST_SERVICES ? service : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The services with most refusals, those first. */
  largest(most: number): readonly { readonly service: string; readonly refusals: number }[] {
    return [...this.#counts]
      .map(([service, refusals]) => ({ service, refusals }))
      .sort((one, other) => other.refusals - one.refusals)
      .slice(0, most);
  }

  clear(): void {
    this.#counts.clear();
  }
}
