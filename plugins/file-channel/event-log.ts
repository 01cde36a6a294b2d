import { mkdir, unlink } from "node:fs/promises";
import { AgentError, codeOf, type Event, type Logger, reasonOf } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import { Checkpoint } from "./checkpoint.js";
import { rangesOf } from "./done-ranges.js";
import { encodeGroup, type PutTexts } from "./encode-group.js";
import type { OpenFile } from "./files.js";
import { FolderLock } from "./folder-lock.js";
import { LogReader, type ReadStep } from "./log-reader.js";
import { type LogState, restoreState } from "./log-state.js";
import { doneBefore, positionText } from "./position.js";
import { Rounds } from "./rounds.js";
import type { Segment } from "./segment.js";
import { type Group, SegmentWriter } from "./segment-writer.js";

export interface LogPlace {
  readonly checkpointFolder: string;
  readonly dataFolders: readonly string[];
  readonly segmentBytes: number;
  readonly openFile: OpenFile;
}

/** The events of one put, as they are and as they are written. */
export interface LogPut extends PutTexts {
  readonly events: readonly Event[];
}

/** Called in the order of the events, as soon as they are on disk. */
export type Written = (group: WrittenGroup) => void;

export interface WrittenGroup {
  readonly events: readonly QueuedEvent[];
  readonly segment: Segment;
  readonly bytes: number;
}

/** Events on disk, in order, each until it is done. */
export class EventLog {
  readonly #place: LogPlace;
  readonly #log: Logger;
  readonly #written: Written;
  readonly #locks: readonly FolderLock[];
  readonly #checkpoint: Checkpoint;
  readonly #segments: Segment[] = [];
  readonly #appending = new Rounds(() => this.#appendPending());
  readonly #saving = new Rounds(() => this.#save());
  #pending: LogPut[] = [];
  #state: LogState | undefined;
  #writer: SegmentWriter | undefined;
  /** Events that have their numbers and are not on disk yet. */
  #writing = 0;
  #failing = false;
  readonly reader = new LogReader(this.#segments);

  constructor(place: LogPlace, log: Logger, written: Written) {
    this.#place = place;
    this.#log = log;
    this.#written = written;
    const folders = new Set([place.checkpointFolder, ...place.dataFolders]);
    this.#locks = [...folders].map((folder) => new FolderLock(folder));
    this.#checkpoint = new Checkpoint(place.checkpointFolder);
  }

  get state(): LogState {
    if (this.#state === undefined)
      throw new AgentError("CHANNEL_NOT_STARTED", "using the log of a channel before its start");
    return this.#state;
  }

  /** Bytes of the segments that hold something that is not done. */
  get usedBytes(): number {
    const low = this.#state?.done.low ?? 0;
    return this.#segments.reduce((sum, { last, end }) => (last > low ? sum + end : sum), 0);
  }

  /** Events on disk that are not done, and those that were numbered to stay in memory. */
  get size(): number {
    if (this.#state === undefined) return 0;
    return this.#state.next - 1 - this.#state.done.count - this.#writing;
  }

  async open(): Promise<void> {
    const { checkpointFolder, dataFolders, segmentBytes, openFile } = this.#place;
    for (const folder of [checkpointFolder, ...dataFolders]) await makeFolder(folder);
    for (const lock of this.#locks) await lock.take();
    const saved = await this.#checkpoint.open();
    const { state, segments } = await restoreState(saved, dataFolders, this.#log);
    this.#state = state;
    this.#segments.push(...segments);
    this.#writer = new SegmentWriter({ folders: dataFolders, id: state.id, segmentBytes, openFile });
    await this.saveDone();
  }

  /** Resolves when the events are on disk. Many puts share one write. */
  async append(put: LogPut): Promise<void> {
    this.#pending.push(put);
    await this.#appending.run();
  }

  /** Gives events the next sequence numbers. */
  number(events: readonly Event[]): readonly QueuedEvent[] {
    const first = this.state.next;
    this.state.next += events.length;
    return events.map((event, index) => ({ sequence: first + index, event }));
  }

  /** Reads the next events from disk and reports those that can no longer be read. */
  async read(): Promise<ReadStep> {
    const { done } = this.state;
    const step = await this.reader.read(done);
    for (const range of step.lost) {
      done.add(range);
      this.#log.error({ file: step.file, ...range, events: range.to - range.from + 1 }, "damaged events left out");
    }
    return step;
  }

  /** Writes events that have their sequence numbers. Only when nothing else is being appended. */
  async insert(events: readonly QueuedEvent[]): Promise<void> {
    for (const { from, to } of rangesOf(events.map(({ sequence }) => sequence))) {
      const texts = events
        .filter(({ sequence }) => from <= sequence && sequence <= to)
        .map(({ event }) => JSON.stringify(event));
      const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      await this.#write({ bytes: encodeGroup([{ texts, bytes }], from), first: from, last: to });
    }
  }

  complete(events: readonly QueuedEvent[]): void {
    for (const range of rangesOf(events.map(({ sequence }) => sequence))) this.state.done.add(range);
  }

  /** Makes durable what is done, and removes the files that hold nothing else. */
  async saveDone(): Promise<void> {
    await this.#saving.run();
  }

  async skipTo(position: string): Promise<void> {
    const { id, done } = this.state;
    const before = doneBefore(id, position);
    if (before === undefined) return;
    done.add({ from: 1, to: before.low });
    for (const range of before.ranges) done.add(range);
    this.state.next = Math.max(this.state.next, done.highest + 1);
    await this.saveDone();
  }

  positionAfter(events: readonly QueuedEvent[]): string {
    const done = this.state.done.copy();
    for (const range of rangesOf(events.map(({ sequence }) => sequence))) done.add(range);
    return positionText(this.state.id, done);
  }

  /** Resolves when no append is under way. */
  async settled(): Promise<void> {
    await this.#appending.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#writer?.close();
    this.#writer = undefined;
    if (this.#state !== undefined) await this.saveDone();
    await this.#checkpoint.close();
    for (const lock of this.#locks) await lock.release();
  }

  async #appendPending(): Promise<void> {
    const puts = this.#pending;
    this.#pending = [];
    const first = this.state.next;
    const events = this.number(puts.flatMap((put) => put.events));
    const last = this.state.next - 1;
    this.#writing = events.length;
    try {
      const bytes = encodeGroup(puts, first);
      const segment = await this.#write({ bytes, first, last });
      this.#writing = 0;
      this.#written({ events, segment, bytes: bytes.length });
    } catch (cause) {
      // Never used again: should the disk have kept some of it after all, it is known to be done.
      this.state.done.add({ from: first, to: last });
      throw this.#unwritable(cause);
    } finally {
      this.#writing = 0;
    }
    if (this.#failing) this.#log.info({ folders: this.#place.dataFolders }, "events are written again");
    this.#failing = false;
  }

  async #write(group: Group): Promise<Segment> {
    if (this.#writer === undefined)
      throw new AgentError("CHANNEL_STOPPED", "writing to the log of a channel that has stopped");
    const segment = await this.#writer.write(group);
    if (!this.#segments.includes(segment)) {
      this.#segments.push(segment);
      this.#segments.sort((one, other) => one.first - other.first);
    }
    return segment;
  }

  #unwritable(cause: unknown): AgentError {
    const folders = this.#place.dataFolders.join('", "');
    const message = `writing events to "${folders}" (puts are refused until it succeeds; look at the space and health of the disk)`;
    const error = new AgentError("CHANNEL_FULL", message, { cause, retryable: true });
    if (!this.#failing)
      this.#log.error({ folders: this.#place.dataFolders, reason: reasonOf(cause) }, "events cannot be written");
    this.#failing = true;
    return error;
  }

  async #save(): Promise<void> {
    const { id, done, next } = this.state;
    try {
      await this.#checkpoint.save({ id, done: done.copy(), next });
      await this.#trim();
    } catch (error) {
      const reason = reasonOf(error);
      this.#log.error(
        { folder: this.#place.checkpointFolder, reason },
        "checkpoint not written: a crash now would deliver events again",
      );
    }
  }

  async #trim(): Promise<void> {
    const low = this.state.done.low;
    const over = this.#segments.filter((segment, index) => segment.last <= low && index < this.#segments.length - 1);
    for (const segment of over) {
      await unlink(segment.file).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
      this.#segments.splice(this.#segments.indexOf(segment), 1);
    }
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (cause) {
    const remedy = "give the channel folders it may write to with checkpointDir and dataDirs";
    throw new AgentError("CHANNEL_FOLDER_UNUSABLE", `making the folder "${folder}" (${remedy})`, { cause });
  }
}
