import { codeOf, FailureLog, type Logger } from "deneb/sdk";
import { countOf, type DoneRanges } from "./done-ranges.js";
import { WITHOUT_ROOM } from "./files.js";
import type { Segment, SegmentList } from "./segments.js";

/** What a file system gives at a time. */
const BLOCK_BYTES = 4096;

interface TidyingParts {
  readonly segments: SegmentList;
  /** Of all files together. */
  readonly mostBytes: number;
  readonly log: Logger;
}

/** Keeps what is done from taking room on the disk. */
export class Tidying {
  readonly #parts: TidyingParts;
  readonly #untrimmed: FailureLog;
  readonly #uncompacted: FailureLog;
  /** How many events are open of a file for which it was no use. */
  readonly #inVain = new WeakMap<Segment, number>();
  /** Those that failed, the last one at the end: they come after the others, so that one which cannot be read does not keep these. */
  readonly #failing = new Set<Segment>();

  constructor(parts: TidyingParts) {
    this.#parts = parts;
    this.#untrimmed = new FailureLog(parts.log, "files whose events are stored are removed again");
    this.#uncompacted = new FailureLog(parts.log, "files are made smaller again");
  }

  /**
   * To be called when the checkpoint says durably what is done. Files of which all is done go. When those that are left take more than half
   * of what they may, one that lies behind an open event, and in which little is open, is made smaller; more where they take nearly all of it.
   */
  async run(saved: DoneRanges, done: DoneRanges): Promise<void> {
    try {
      await this.#parts.segments.trim(saved);
      this.#untrimmed.works();
    } catch (error) {
      this.#untrimmed.failed("error", error, { message: "a file whose events are stored cannot be removed" });
    }
    await this.#compact(done);
  }

  /** One file, so that the next save comes soon; while puts may be refused for want of room as many as it takes: without puts and takes nothing is saved. */
  async #compact(done: DoneRanges): Promise<void> {
    const { segments, mostBytes } = this.#parts;
    for (let isFirst = true; isFirst || segments.bytesAbove(done.low) > (mostBytes * 3) / 4; isFirst = false)
      if (!(await this.#compactOne(done))) return;
  }

  /** Resolves to whether there was one that is smaller now. */
  async #compactOne(done: DoneRanges): Promise<boolean> {
    for (let at = this.#worthCompacting(done); at !== undefined; at = this.#worthCompacting(done)) {
      const { file, bytes: before } = at;
      try {
        // Seldom there is something: what does it is loaded then.
        const { compact } = await import("./compaction.js");
        const isSmaller = await compact(at, done);
        this.#failing.delete(at);
        if (this.#failing.size === 0) this.#uncompacted.works();
        if (isSmaller) {
          this.#parts.log.info({ file, before, bytes: at.bytes }, "stored events were taken out of a file");
          return true;
        }
        this.#inVain.set(at, openOf(at, done));
      } catch (error) {
        const message = "a file most of whose events are stored cannot be made smaller";
        this.#uncompacted.failed("error", error, { message, fields: { file } });
        const isRepeated = this.#failing.delete(at);
        this.#failing.add(at);
        if (isRepeated || WITHOUT_ROOM.has(codeOf(error))) return false;
      }
    }
    return false;
  }

  /** The oldest of those that have events which wait while later ones are done. */
  #worthCompacting(done: DoneRanges): Segment | undefined {
    const { segments, mostBytes } = this.#parts;
    if (done.ranges.length === 0 || segments.bytesAbove(done.low) <= mostBytes / 2) return undefined;
    const behind = segments.all.slice(0, -1).filter(({ last }) => done.low < last && last < done.highest);
    const worth = behind.filter((segment) => this.#isWorth(segment, done));
    for (const one of this.#failing) if (!worth.includes(one)) this.#failing.delete(one);
    return worth.find((segment) => !this.#failing.has(segment)) ?? [...this.#failing][0];
  }

  #isWorth(segment: Segment, done: DoneRanges): boolean {
    const { first, last, end, bytes, isEmpty } = segment;
    // Each event may begin and end in blocks of its own.
    if (isEmpty || bytes < 6 * BLOCK_BYTES) return false;
    const open = openOf(segment, done);
    if (open > (this.#inVain.get(segment) ?? Number.POSITIVE_INFINITY) / 2) return false;
    return bytes >= 2 * ((end * open) / (last - first + 1) + (open + 3) * BLOCK_BYTES);
  }
}

function openOf({ first, last }: Segment, done: DoneRanges): number {
  return done.openIn({ from: first, to: last }).reduce((sum, range) => sum + countOf(range), 0);
}
