import type { LogPart } from "deneb/log";

const SHORTEST_PAUSE_MILLIS = 20;
const LONGEST_PAUSE_MILLIS = 5000;

interface Known {
  /** A record that was announced and not seen yet; -1 for none. */
  announced: number;
  /** When to ask although none was announced. */
  askAt: number;
  pause: number;
  /** From here on no record was found that was not announced. */
  emptyFrom: number;
}

/**
 * What is known of the ends of parts: which to ask for records now. Announcements may be lost, and come before the server
 * that answers has the record; so each part is asked again after a pause that doubles while nothing is found.
 */
export class Parts {
  readonly #known = new Map<LogPart, Known>();
  readonly #waiting = new Set<() => void>();

  announced(part: LogPart, offset: number): void {
    const known = this.#of(part);
    known.announced = Math.max(known.announced, offset);
    known.pause = SHORTEST_PAUSE_MILLIS;
    this.wake();
  }

  /** Announcements may have been lost. */
  uncertain(): void {
    this.#known.clear();
    this.wake();
  }

  wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }

  due(part: LogPart, from: number, now: number): boolean {
    const { announced, askAt, emptyFrom } = this.#of(part);
    return announced >= from || from < emptyFrom || askAt <= now;
  }

  /** Whether a record from this offset on was announced. */
  isAnnounced(part: LogPart, from: number): boolean {
    return this.#of(part).announced >= from;
  }

  /** Whether a part may have more, after a record of it was found. */
  found(part: LogPart, offset: number): boolean {
    const known = this.#of(part);
    known.pause = SHORTEST_PAUSE_MILLIS;
    known.askAt = performance.now() + known.pause;
    if (offset >= known.emptyFrom) known.emptyFrom = offset + 1;
    return known.announced > offset || offset + 1 < known.emptyFrom;
  }

  nothing(part: LogPart, from: number): void {
    const known = this.#of(part);
    known.announced = -1;
    known.emptyFrom = from;
    known.askAt = performance.now() + known.pause;
    known.pause = Math.min(2 * known.pause, LONGEST_PAUSE_MILLIS);
  }

  /** Resolves at the next announcement, when a part is to be asked, or when the signal aborts. */
  async change(parts: Iterable<LogPart>, end: number, signal: AbortSignal): Promise<void> {
    let next = end;
    for (const part of parts) next = Math.min(next, this.#of(part).askAt);
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        this.#waiting.delete(go);
        signal.removeEventListener("abort", go);
        resolve();
      };
      const timer = setTimeout(go, Math.max(0, Math.ceil(next - performance.now())));
      this.#waiting.add(go);
      if (signal.aborted) go();
      else signal.addEventListener("abort", go);
    });
  }

  #of(part: LogPart): Known {
    const found = this.#known.get(part);
    if (found !== undefined) return found;
    const known = { announced: -1, askAt: 0, pause: SHORTEST_PAUSE_MILLIS, emptyFrom: Number.POSITIVE_INFINITY };
    this.#known.set(part, known);
    return known;
  }
}
