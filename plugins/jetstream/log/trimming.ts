import type { LogPart } from "deneb/log";
import type { Identity } from "./identity.js";
import type { Link } from "./link.js";
import type { Subjects } from "./subjects.js";

/** Records of a part that go at once when all parts get as many: a server takes no records while it removes some. */
const RECORDS = 250;
/** However much there is to remove. */
const MOST_STEPS = 50;

export interface TrimmingParts {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly identity: Pick<Identity, "check">;
}

/** Removes records of parts from the front of the stream, a little of each part in turn, so that appends come between. */
export class Trimming {
  readonly #of: TrimmingParts;
  /** By part: what is before this sequence was removed. */
  readonly #removed = new Map<LogPart, number>();

  constructor(of: TrimmingParts) {
    this.#of = of;
  }

  /** Removes what stands before these offsets. */
  async trim(before: ReadonlyMap<LogPart, number>): Promise<void> {
    // Sequences begin with 1, and 0 would remove everything.
    const wanted = [...before].filter(([, offset]) => offset > 1);
    if (wanted.length === 0) return;
    const last = Math.max(...wanted.map(([, offset]) => offset));
    const first = Math.min(last, ...wanted.map(([part]) => this.#removed.get(part) ?? last));
    const step = Math.max(RECORDS * wanted.length, Math.ceil((last - first) / MOST_STEPS));
    for (let edge = Math.min(last, first + step); ; edge = Math.min(last, edge + step)) {
      // What stands in another stream of the same name is not stored yet.
      await this.#of.identity.check();
      for (const [part, offset] of wanted) await this.#remove(part, Math.min(offset, edge), offset);
      if (edge === last) return;
    }
  }

  /** How far a part was trimmed before is not known when an agent has just taken it: then all of it goes at once. */
  async #remove(part: LogPart, next: number, end: number): Promise<void> {
    const { link, stream, subjects } = this.#of;
    const removed = this.#removed.get(part);
    const seq = removed === undefined ? end : next;
    if (removed !== undefined && seq <= removed) return;
    const filter = subjects.of(part);
    await link.api(`removing the stored records of "${filter}"`, `STREAM.PURGE.${stream}`, { body: { filter, seq } });
    this.#removed.set(part, seq);
  }
}
