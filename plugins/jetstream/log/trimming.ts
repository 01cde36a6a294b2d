import type { LogPart } from "deneb/log";
import type { Identity } from "./identity.js";
import type { Link } from "./link.js";
import type { StreamRecords } from "./records.js";
import type { Subjects } from "./subjects.js";

/** Records of a part that go at once when all parts get as many: a server takes no records while it removes some. */
const RECORDS = 250;
/** However much there is to remove. */
const MOST_STEPS = 50;

interface TrimmingParts {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly identity: Pick<Identity, "check">;
  readonly records: StreamRecords;
}

/** Removes records of parts from the front of the stream, a little of each part in turn, so that appends come between. */
export class Trimming {
  readonly #of: TrimmingParts;
  /** By part: what is before this sequence was removed. */
  readonly #removed = new Map<LogPart, number>();

  constructor(of: TrimmingParts) {
    this.#of = of;
  }

  /** Removes what stands before these offsets; the rest stays when the signal aborts. */
  async trim(before: ReadonlyMap<LogPart, number>, signal?: AbortSignal): Promise<void> {
    // Sequences begin with 1, and 0 would remove everything.
    const wanted = [...before].filter(([, offset]) => offset > 1);
    if (wanted.length === 0) return;
    // What stands in another stream of the same name is not stored yet.
    await this.#of.identity.check();
    const last = Math.max(...wanted.map(([, offset]) => offset));
    let first = last;
    for (const [part] of wanted) {
      if (signal?.aborted === true) return;
      first = Math.min(first, await this.#begin(part));
    }
    const step = Math.max(RECORDS * wanted.length, Math.ceil((last - first) / MOST_STEPS));
    for (let edge = Math.min(last, first + step); ; edge = Math.min(last, edge + step)) {
      for (const [part, offset] of wanted) {
        if (signal?.aborted === true) return;
        await this.#remove(part, Math.min(offset, edge));
      }
      if (edge === last) return;
      await this.#of.identity.check();
    }
  }

  /** The sequence before which there is nothing of a part; without records, infinity. */
  async #begin(part: LogPart): Promise<number> {
    const known = this.#removed.get(part);
    if (known !== undefined) return known;
    const subject = this.#of.subjects.of(part);
    const doing = `looking for the stored records of "${subject}"`;
    const oldest = await this.#of.records.find({ subject, which: { from: 1 }, doing });
    if (oldest !== undefined) this.#removed.set(part, oldest.offset);
    return oldest?.offset ?? Number.POSITIVE_INFINITY;
  }

  async #remove(part: LogPart, seq: number): Promise<void> {
    const { link, stream, subjects } = this.#of;
    if (seq <= (this.#removed.get(part) ?? 0)) return;
    const filter = subjects.of(part);
    await link.api(`removing the stored records of "${filter}"`, `STREAM.PURGE.${stream}`, { body: { filter, seq } });
    this.#removed.set(part, seq);
  }
}
