import { realpath } from "node:fs/promises";
import { AgentError, type ChannelContext, type Logger, type TextCodecs } from "deneb/sdk";
import type { QueuedEvent } from "deneb/sdk/channel";
import { Appender, type Ended, type Written } from "./appender.js";
import { ChannelFolders } from "./channel-folders.js";
import { DiskState } from "./disk-state.js";
import { type Range, rangesOf, without } from "./done-ranges.js";
import { isEmpty, type OpenFile } from "./files.js";
import { LogReader, type ReadStep, type ScanStep } from "./log-reader.js";
import { newIdFile, wantsNewId } from "./new-id.js";
import { doneBefore, idOf, isOfRun, type PositionScope, positionText, sequencesIn } from "./position.js";
import { type LogState, type ReturnedSegment, restoreState } from "./restore.js";
import { SavedLog, type ToSave } from "./saved-log.js";
import { SegmentWriter } from "./segment-writer.js";
import { type Segment, SegmentList } from "./segments.js";

export interface LogSettings {
  readonly channel: string;
  readonly checkpointFolder: string;
  readonly dataFolders: readonly string[];
  readonly segmentBytes: number;
  /** Of all files together. */
  readonly mostBytes: number;
  readonly openFile: OpenFile;
  readonly lockFolder: ChannelContext["lockFolder"];
  /** True when events may have numbers without being on disk. */
  readonly inMemory: boolean;
  /** Those that are there after a restart, too. */
  readonly codecs: TextCodecs;
}

/** What happens to puts, and that there may be room for others. */
interface LogWatch {
  readonly written: Written;
  readonly ended: Ended;
  readonly freed: () => void;
}

/** Events on disk, in order, each until it is done. */
export class EventLog {
  readonly #settings: LogSettings;
  readonly #log: Logger;
  readonly #written: Written;
  readonly #ended: Ended;
  readonly #folders: ChannelFolders;
  readonly #saved: SavedLog;
  readonly segments = new SegmentList();
  readonly #disk: DiskState;
  #state: LogState | undefined;
  #appender: Appender | undefined;
  #claiming: Promise<void> | undefined;
  #lost = 0;
  /** The first number that this opening gives. */
  #first = 0;
  readonly reader: LogReader;
  readonly codecs: TextCodecs;

  constructor(settings: LogSettings, log: Logger, { written, ended, freed }: LogWatch) {
    this.#settings = settings;
    this.codecs = settings.codecs;
    this.reader = new LogReader(this.segments, this.codecs);
    this.#log = log;
    this.#written = written;
    this.#ended = ended;
    this.#folders = new ChannelFolders([settings.checkpointFolder, ...settings.dataFolders], settings.lockFolder);
    this.#saved = new SavedLog({ ...settings, segments: this.segments, log, freed });
    this.#disk = new DiskState(settings.channel, settings.dataFolders, log);
  }

  get state(): LogState {
    if (this.#state === undefined) throw notOpen();
    return this.#state;
  }

  /** Events that were accepted and can no longer be read, since the log was opened; less those that are back. */
  get lost(): number {
    return this.#lost;
  }

  /** Bytes that the segments take on the disk from the oldest open event on. */
  get usedBytes(): number {
    return this.segments.bytesAbove(this.#state?.done.low ?? 0);
  }

  /** Events on disk that are not done, and those that were numbered to stay in memory. */
  get size(): number {
    if (this.#state === undefined) return 0;
    return this.#state.next - 1 - this.#state.done.count - this.#writing;
  }

  async open(): Promise<void> {
    const { checkpointFolder, segmentBytes, inMemory, openFile } = this.#settings;
    await this.#folders.take();
    // Those that are locked, also when a link on the way to them leads elsewhere later.
    const dataFolders = await Promise.all(this.#settings.dataFolders.map((folder) => realpath(folder)));
    const locked = await inUse(dataFolders);
    const saved = await this.#saved.open();
    const newId = await wantsNewId(checkpointFolder);
    const remains = { folders: dataFolders, damaged: this.#saved.damaged, inMemory, newId };
    const { state, segments, returned, lost } = await restoreState(saved, remains, this.#log);
    this.#state = state;
    this.#first = state.next;
    this.#lost = lost;
    for (const segment of segments) this.segments.add(segment);
    this.#appender = new Appender({
      channel: this.#settings.channel,
      state,
      writer: new SegmentWriter({
        folders: dataFolders,
        id: state.id,
        segmentBytes,
        openFile,
        locked,
        removed: this.#removed,
      }),
      segments: this.segments,
      disk: this.#disk,
      written: this.#written,
      ended: this.#ended,
      saveDone: () => this.saveDone(),
    });
    this.#saved.begin(() => this.#toSave);
    if (newId) await this.#saved.saveNewId(this.#toSave);
    await this.#takeBack(returned, segments);
    await this.saveDone();
  }

  readonly #removed = (file: string): void => {
    this.#log.error({ file }, "the file that events were written to was removed: another one is begun");
  };

  /** To be called before events are handed out: their positions are accepted at later starts. */
  async claimRun(): Promise<void> {
    const { run, runs = [] } = this.state;
    if (runs.at(-1) !== run) {
      this.state.runs = [...runs, run];
      this.#claiming = this.saveDone();
    }
    await this.#claiming;
  }

  /** The part that writes. Throws when the log is not open. */
  get appender(): Appender {
    if (this.#appender === undefined) throw notOpen();
    return this.#appender;
  }

  /** Reads the next events from disk and reports those that can no longer be read. */
  async read(): Promise<ReadStep> {
    const step = await this.reader.read(this.state.done);
    this.lose(step.lost, step.file);
    return step;
  }

  /** The same without decoding them. */
  async scan(): Promise<ScanStep> {
    const step = await this.reader.scan(this.state.done);
    this.lose(step.lost, step.file);
    return step;
  }

  /** Reports events that can no longer be read; they count as done. */
  lose(ranges: readonly Range[], file: string): void {
    for (const range of ranges) {
      const events = range.to - range.from + 1;
      this.state.done.add(range);
      this.#lost += events;
      this.#log.error({ file, ...range, events }, "damaged events left out");
    }
  }

  complete(events: readonly QueuedEvent[]): void {
    this.state.done.addAll(events.map(({ sequence }) => sequence));
  }

  /** Writes to the checkpoint which events are done, and removes the files that hold no others. */
  async saveDone(): Promise<void> {
    await this.#saved.save();
  }

  /** Resolves to the number of events that are left out. */
  async skipTo(position: string): Promise<number> {
    const before = doneBefore(this.#scope, position);
    if (before === undefined) return 0;
    const ranges = [{ from: 1, to: before.low }, ...before.ranges];
    // A position of this run covers what is missing, too; one of an earlier run says that it is stored.
    if (!isOfRun(this.state, position)) this.state.missing = without(this.state.missing, ranges);
    return await this.#finish(ranges);
  }

  /** The same for events of which these are the ids. */
  async leaveOut(ids: AsyncIterable<string>): Promise<number> {
    // They may be many, and are on disk.
    if (this.size === 0 && this.#lost <= 0) return 0;
    const own: number[] = [];
    for await (const id of ids) own.push(...sequencesIn(id, this.state));
    if (own.length === 0) return 0;
    const ranges = rangesOf(own.sort((one, other) => one - other));
    this.state.missing = without(this.state.missing, ranges);
    this.state.missingBefore = without(this.state.missingBefore, ranges);
    return await this.#finish(ranges);
  }

  /** The same events; those that an earlier opening may have handed out say so. */
  marked(events: readonly QueuedEvent[]): readonly QueuedEvent[] {
    const isEarlier = ({ sequence }: QueuedEvent) => sequence < this.#first;
    if (!events.some(isEarlier)) return events;
    return events.map((event) => (isEarlier(event) ? { ...event, redelivered: true } : event));
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

  /** Resolves when no append is in progress. */
  async idle(): Promise<void> {
    await this.#appender?.idle();
  }

  async close(): Promise<void> {
    await this.idle();
    await this.#appender?.close();
    this.#appender = undefined;
    try {
      await this.#saved.close();
    } finally {
      await this.#folders.release();
    }
  }

  get #writing(): number {
    return this.#appender?.writing ?? 0;
  }

  get #scope(): PositionScope {
    const { channel, checkpointFolder } = this.#settings;
    return { ...this.state, channel, newIdFile: newIdFile(checkpointFolder) };
  }

  get #toSave(): ToSave {
    return { state: this.state, writing: this.#writing };
  }

  /** Seldom there is something: what does it is loaded then. */
  async #takeBack(returned: readonly ReturnedSegment[], present: readonly Segment[]): Promise<void> {
    if (returned.length === 0) return;
    const { takeBack } = await import("./returned.js");
    const { state, appender, segments } = this;
    const parts = { state, appender, segments, present, log: this.#log, save: () => this.saveDone() };
    this.#lost -= await takeBack(returned, parts);
  }
}

/** Those of the folders in which there is something, as the lock of who uses them. */
async function inUse(folders: readonly string[]): Promise<readonly string[]> {
  const empty = await Promise.all(folders.map(isEmpty));
  return folders.filter((_, at) => empty[at] === false);
}

function notOpen(): AgentError {
  return new AgentError("CHANNEL_NOT_OPEN", "using the log of a channel before its start or after its stop", {
    retryable: true,
  });
}
