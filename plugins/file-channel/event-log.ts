import { AgentError, type ChannelContext, type Event, type Logger, reasonOf } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import { ChannelFolders } from "./channel-folders.js";
import { type ChannelState, Checkpoint } from "./checkpoint.js";
import { DiskState } from "./disk-state.js";
import { type Range, rangesOf } from "./done-ranges.js";
import { encodeGroup } from "./encode-group.js";
import { idOf, sequencesIn } from "./event-id.js";
import type { OpenFile } from "./files.js";
import { Gathering } from "./gathering.js";
import { type LogPut, logPut, type Written } from "./log-put.js";
import { LogReader, type ReadStep } from "./log-reader.js";
import { type LogState, restoreState } from "./log-state.js";
import { NUMBERS_OF_ONE_RUN } from "./missing-events.js";
import { newIdFile, newIdTaken, wantsNewId } from "./new-id.js";
import { doneBefore, type PositionScope, positionText } from "./position.js";
import { HIGHEST_SEQUENCE } from "./record.js";
import { Rounds } from "./rounds.js";
import type { Segment } from "./segment.js";
import { SegmentList } from "./segment-list.js";
import { type Group, SegmentWriter } from "./segment-writer.js";

/** After so many numbers the checkpoint is written, also when no event went to disk. */
const NUMBERS_BETWEEN_SAVES = NUMBERS_OF_ONE_RUN / 16;

export interface LogPlace {
  readonly channel: string;
  readonly checkpointFolder: string;
  readonly dataFolders: readonly string[];
  readonly segmentBytes: number;
  readonly openFile: OpenFile;
  readonly lockFolder: ChannelContext["lockFolder"];
  /** True when events may have numbers without being on disk. */
  readonly inMemory: boolean;
}

/** Events on disk, in order, each until it is done. */
export class EventLog {
  readonly #place: LogPlace;
  readonly #log: Logger;
  readonly #written: Written;
  readonly #folders: ChannelFolders;
  readonly #checkpoint: Checkpoint;
  readonly #segments = new SegmentList();
  readonly #disk: DiskState;
  readonly #gathering = new Gathering(() => this.#pending.length);
  readonly #appending = new Rounds(
    () => this.#appendPending(),
    () => this.#gathering.enough(),
  );
  readonly #saving = new Rounds(() => this.#save());
  #pending: LogPut[] = [];
  #state: LogState | undefined;
  #writer: SegmentWriter | undefined;
  /** Events that have their numbers and are not on disk yet. */
  #writing = 0;
  #closed = false;
  #claiming: Promise<void> | undefined;
  #lost = 0;
  /** The next number that the checkpoint on disk has. */
  #savedNext = 0;
  readonly reader = new LogReader(this.#segments);

  constructor(place: LogPlace, log: Logger, written: Written) {
    this.#place = place;
    this.#log = log;
    this.#written = written;
    this.#folders = new ChannelFolders([place.checkpointFolder, ...place.dataFolders], place.lockFolder);
    this.#checkpoint = new Checkpoint(place.checkpointFolder);
    this.#disk = new DiskState(place.channel, place.dataFolders, log);
  }

  get state(): LogState {
    if (this.#state === undefined) throw notOpen();
    return this.#state;
  }

  /** Events that were accepted and can no longer be read, since the log was opened. */
  get lost(): number {
    return this.#lost;
  }

  /** Bytes of the segments that hold something that is not done. */
  get usedBytes(): number {
    return this.#segments.bytesAbove(this.#state?.done.low ?? 0);
  }

  /** Events on disk that are not done, and those that were numbered to stay in memory. */
  get size(): number {
    if (this.#state === undefined) return 0;
    return this.#state.next - 1 - this.#state.done.count - this.#writing;
  }

  async open(): Promise<void> {
    const { checkpointFolder, dataFolders, segmentBytes, inMemory, openFile } = this.#place;
    this.#closed = false;
    await this.#folders.take();
    const saved = await this.#checkpoint.open();
    const newId = await wantsNewId(checkpointFolder);
    const remains = { folders: dataFolders, damaged: this.#checkpoint.damaged, inMemory, newId };
    const { state, segments, lost } = await restoreState(saved, remains, this.#log);
    this.#state = state;
    this.#savedNext = state.next;
    this.#lost = lost;
    for (const segment of segments) this.#segments.add(segment);
    this.#writer = new SegmentWriter({ folders: dataFolders, id: state.id, segmentBytes, openFile });
    if (newId) await this.#takeNewId();
    await this.saveDone();
  }

  /** To be called before events are handed out: their positions are accepted at later starts. */
  async claimRun(): Promise<void> {
    const { run, runs = [] } = this.state;
    if (runs.at(-1) !== run) {
      this.state.runs = [...runs, run];
      this.#claiming = this.saveDone();
    }
    await this.#claiming;
  }

  /** Resolves when the events are on disk. Many puts share one write. */
  async append(put: LogPut): Promise<void> {
    this.#pending.push(put);
    await this.#appending.run();
  }

  /**
   * Whether so many events may get numbers without going to disk: after an unclean end the numbers must go on above all
   * that were used.
   */
  hasNumbersFor(events: number): boolean {
    return this.state.next + events - this.#savedNext < NUMBERS_OF_ONE_RUN / 2;
  }

  /** Gives events the next sequence numbers; throws code `CHANNEL_NUMBERS_USED` when there are none left. */
  number(events: readonly Event[]): readonly QueuedEvent[] {
    const first = this.state.next;
    if (first + events.length - 1 > HIGHEST_SEQUENCE) throw numbersUsedUp(this.#place.channel);
    this.state.next += events.length;
    if (this.state.next - this.#savedNext > NUMBERS_BETWEEN_SAVES) void this.saveDone();
    return events.map((event, index) => ({ sequence: first + index, event }));
  }

  /** Reads the next events from disk and reports those that can no longer be read. */
  async read(): Promise<ReadStep> {
    const { done } = this.state;
    const step = await this.reader.read(done);
    for (const range of step.lost) {
      const events = range.to - range.from + 1;
      done.add(range);
      this.#lost += events;
      this.#log.error({ file: step.file, ...range, events }, "damaged events left out");
    }
    return step;
  }

  /** Writes events that have their sequence numbers. Only when nothing else is being appended. */
  async insert(events: readonly QueuedEvent[]): Promise<void> {
    for (const { from, to } of rangesOf(events.map(({ sequence }) => sequence))) {
      const run = events.filter(({ sequence }) => from <= sequence && sequence <= to).map(({ event }) => event);
      await this.#write({ bytes: encodeGroup([logPut(run)], from), first: from, last: to });
    }
  }

  complete(events: readonly QueuedEvent[]): void {
    this.state.done.addAll(events.map(({ sequence }) => sequence));
  }

  /** Makes durable what is done, and removes the files that hold nothing else. */
  async saveDone(): Promise<void> {
    await this.#saving.run();
  }

  /** Resolves to the number of events that are left out. */
  async skipTo(position: string): Promise<number> {
    const before = doneBefore(this.#scope, position);
    return before === undefined ? 0 : await this.#finish([{ from: 1, to: before.low }, ...before.ranges]);
  }

  /** The same for events of which these are the ids. */
  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    const own: number[] = [];
    for await (const id of ids) own.push(...sequencesIn(id, this.state));
    return own.length === 0 ? 0 : await this.#finish(own.map((sequence) => ({ from: sequence, to: sequence })));
  }

  /** Names an event over all runs of the channel. */
  idOf(sequence: number): string {
    return idOf(this.state, sequence);
  }

  async #finish(ranges: readonly Range[]): Promise<number> {
    const { done } = this.state;
    const waiting = this.size;
    for (const range of ranges) done.add(range);
    const finished = waiting - this.size;
    await this.saveDone();
    return finished;
  }

  positionAfter(events: readonly QueuedEvent[]): string {
    const done = this.state.done.copy();
    done.addAll(events.map(({ sequence }) => sequence));
    return positionText(this.state, done);
  }

  coveredBy(position: string, events: readonly QueuedEvent[]): readonly QueuedEvent[] {
    const before = doneBefore(this.#scope, position);
    return before === undefined ? [] : events.filter(({ sequence }) => before.has(sequence));
  }

  /** Resolves when no append is under way. */
  async settled(): Promise<void> {
    await this.#appending.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    await this.#writer?.close();
    this.#writer = undefined;
    this.#closed = true;
    if (this.#state !== undefined) await this.saveDone();
    await this.#checkpoint.close();
    await this.#folders.release();
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
      // That a file was begun, and which numbers were not used before it, is known from then on.
      if (segment.first === first) await this.saveDone();
    } catch (cause) {
      // On disk before a position can hold these numbers: what goes beyond the numbers on disk is taken for foreign.
      await this.saveDone();
      // Never used again: should the disk have kept some of it after all, it is known to be done.
      this.state.done.add({ from: first, to: last });
      throw this.#disk.failed(cause);
    } finally {
      this.#writing = 0;
    }
    this.#disk.succeeded();
  }

  async #write(group: Group): Promise<Segment> {
    if (this.#writer === undefined) throw notOpen();
    const segment = await this.#writer.write(group);
    this.#segments.add(segment);
    return segment;
  }

  get #scope(): PositionScope {
    const { channel, checkpointFolder } = this.#place;
    return { ...this.state, channel, newIdFile: newIdFile(checkpointFolder) };
  }

  get #snapshot(): ChannelState {
    const { id, formerIds, runs = [], done, next } = this.state;
    const { inMemory } = this.#place;
    const written = next - 1 - this.#writing;
    return { id, formerIds, runs, done: done.copy(), next, closed: this.#closed, written, inMemory };
  }

  async #takeNewId(): Promise<void> {
    await this.#checkpoint.save(this.#snapshot);
    await newIdTaken(this.#place.checkpointFolder);
    this.#log.info(
      { channel: this.state.id, before: this.state.formerIds.at(-1) },
      "the channel goes on under a new id",
    );
  }

  async #save(): Promise<void> {
    try {
      const snapshot = this.#snapshot;
      await this.#checkpoint.save(snapshot);
      this.#savedNext = snapshot.next;
      await this.#segments.trim(this.state.done.low);
    } catch (error) {
      const reason = reasonOf(error);
      this.#log.error(
        { folder: this.#place.checkpointFolder, reason },
        "checkpoint not written: a crash now would deliver events again",
      );
    }
  }
}

function numbersUsedUp(channel: string): AgentError {
  const remedy = "when its sinks have emptied it, stop the agent and remove the folders of the channel";
  const message = `putting into channel "${channel}": its ${HIGHEST_SEQUENCE} sequence numbers are used up; ${remedy}`;
  return new AgentError("CHANNEL_NUMBERS_USED", message, { retryable: true });
}

function notOpen(): AgentError {
  return new AgentError("CHANNEL_NOT_OPEN", "using the log of a channel before its start or after its stop");
}
