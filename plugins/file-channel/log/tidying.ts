import { codeOf, FailureLog, type Logger } from "deneb/sdk";
import { countOf, DoneRanges } from "./done-ranges.js";
import { WITHOUT_ROOM } from "./files.js";
import { isDone, type Segment, type SegmentList } from "./segments.js";
import { SingleFlight } from "./single-flight.js";

/** What a file system gives at a time. */
const BLOCK_BYTES = 4096;

/** Milliseconds from the last failure until files that could not be made smaller are tried again. */
const BETWEEN_FAILURES = 10_000;

interface TidyingParts {
  readonly segments: SegmentList;
  /** Of all files together. */
  readonly mostBytes: number;
  readonly log: Logger;
  /** Called when files may take less of the disk than before. */
  readonly freed: () => void;
}

/** Keeps what is done from taking room on the disk. */
export class Tidying {
  readonly #parts: TidyingParts;
  readonly #untrimmed: FailureLog;
  readonly #uncompacted: FailureLog;
  readonly #compacting = new SingleFlight(() => this.#compact());
  /** What the checkpoint says to be done, and what was done at that time. */
  #saved = new DoneRanges();
  #done = new DoneRanges();
  /** The file that is being made smaller: it would come back if it was removed meanwhile. */
  #inWork: Segment | undefined;
  /** How many events are open of a file for which it was no use. */
  readonly #inVain = new WeakMap<Segment, number>();
  /** Those that failed, the last one at the end: they come after the others, so that one which cannot be read does not keep these. */
  readonly #failing = new Set<Segment>();
  #failingWaitUntil = Number.NEGATIVE_INFINITY;
  #goesOn = false;

  constructor(parts: TidyingParts) {
    this.#parts = parts;
    this.#untrimmed = new FailureLog(parts.log, "files whose events are stored are removed again");
    this.#uncompacted = new FailureLog(parts.log, "files are made smaller again");
  }

  begin(): void {
    this.#goesOn = true;
  }

  /**
   * To be called when the checkpoint says durably what is done. Files of which all is done go. To make others smaller takes as long as to read
   * them: it goes on behind this call.
   */
  async run(saved: DoneRanges, done: DoneRanges): Promise<void> {
    this.#saved = saved;
    this.#done = done;
    await this.#trim();
    if (this.#worthCompacting() !== undefined) void this.#compacting.run();
  }

  /** Resolves when the file that is being made smaller is finished; others stay. */
  async end(): Promise<void> {
    this.#goesOn = false;
    await this.#compacting.idle();
  }

  async #trim(): Promise<void> {
    try {
      await this.#parts.segments.trim(this.#saved, () => this.#inWork);
      this.#untrimmed.works();
    } catch (error) {
      this.#untrimmed.failed("error", error, { message: "a file whose events are stored cannot be removed" });
    }
  }

  async #compact(): Promise<void> {
    for (let at = this.#worthCompacting(); at !== undefined; at = this.#worthCompacting()) {
      this.#inWork = at;
      const hasRoom = await this.#compactOne(at, this.#done);
      this.#inWork = undefined;
      await this.#trim();
      this.#parts.freed();
      if (!hasRoom) return;
    }
  }

  /** Resolves to whether the disk has room for it. */
  async #compactOne(segment: Segment, done: DoneRanges): Promise<boolean> {
    const { file, bytes: before } = segment;
    try {
      // Seldom there is something: what does it is loaded then.
      const { compact } = await import("./compaction.js");
      const isSmaller = await compact(segment, done);
      this.#failing.delete(segment);
      if (this.#failing.size === 0) this.#uncompacted.works();
      if (isSmaller)
        this.#parts.log.info({ file, before, bytes: segment.bytes }, "stored events were taken out of a file");
      else this.#inVain.set(segment, openOf(segment, done));
    } catch (error) {
      const message = "a file most of whose events are stored cannot be made smaller";
      this.#uncompacted.failed("error", error, { message, fields: { file } });
      this.#failing.delete(segment);
      this.#failing.add(segment);
      this.#failingWaitUntil = performance.now() + BETWEEN_FAILURES;
      return !WITHOUT_ROOM.has(codeOf(error));
    }
    return true;
  }

  /** When files take more than half of what they may, the oldest of those that have events which wait while later ones are done. */
  #worthCompacting(): Segment | undefined {
    const { segments, mostBytes } = this.#parts;
    const done = this.#done;
    if (!this.#goesOn || done.ranges.length === 0 || segments.bytesAbove(done.low) <= mostBytes / 2) return undefined;
    const behind = segments.all.slice(0, -1).filter(({ last }) => done.low < last && last < done.highest);
    const worth = behind.filter((segment) => !isDone(segment, this.#saved) && this.#isWorth(segment, done));
    for (const one of this.#failing) if (!worth.includes(one)) this.#failing.delete(one);
    const other = worth.find((segment) => !this.#failing.has(segment));
    return other ?? (performance.now() < this.#failingWaitUntil ? undefined : [...this.#failing][0]);
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
