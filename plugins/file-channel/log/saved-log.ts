import { FailureLog, type Logger } from "deneb/sdk";
import { type ChannelState, Checkpoint, MOST_RANGES } from "./checkpoint.js";
import { newIdTaken } from "./new-id.js";
import type { LogState } from "./restore.js";
import { rangesToSave } from "./saved-ranges.js";
import type { SegmentList } from "./segments.js";
import { SingleFlight } from "./single-flight.js";
import { Tidying } from "./tidying.js";

interface SavedLogParts {
  readonly checkpointFolder: string;
  /** Of all files together. */
  readonly mostBytes: number;
  readonly inMemory: boolean;
  readonly segments: SegmentList;
  readonly log: Logger;
  /** Called when files may take less of the disk than before. */
  readonly freed: () => void;
}

/** The log of which a checkpoint says what is done. */
export interface ToSave {
  readonly state: LogState;
  /** How many events have numbers and are not on disk yet. */
  readonly writing: number;
}

/** What of a log is in its checkpoint, and what may go from the disk because it is. */
export class SavedLog {
  readonly #parts: SavedLogParts;
  readonly #checkpoint: Checkpoint;
  readonly #tidying: Tidying;
  readonly #unsaved: FailureLog;
  readonly #saving = new SingleFlight(() => this.#save());
  #toSave: (() => ToSave) | undefined;
  #closed = false;

  constructor(parts: SavedLogParts) {
    this.#parts = parts;
    this.#checkpoint = new Checkpoint(parts.checkpointFolder);
    this.#tidying = new Tidying(parts);
    this.#unsaved = new FailureLog(parts.log, "checkpoint is written again");
  }

  /** Whether a part of the checkpoint cannot be read. */
  get damaged(): boolean {
    return this.#checkpoint.damaged;
  }

  /** Resolves to what was saved last; undefined when nothing was, or it cannot be read. */
  async open(): Promise<ChannelState | undefined> {
    this.#closed = false;
    this.#toSave = undefined;
    this.#tidying.begin();
    return await this.#checkpoint.open();
  }

  /** From now on this is what is saved. */
  begin(toSave: () => ToSave): void {
    this.#toSave = toSave;
  }

  /** Writes which events are done, and removes the files that hold no others. */
  async save(): Promise<void> {
    await this.#saving.run();
  }

  /** Writes that the channel has a new id. Rejects where it cannot be written. */
  async saveNewId({ state, writing }: ToSave): Promise<void> {
    const { checkpointFolder, log } = this.#parts;
    await this.#checkpoint.save(this.#snapshot({ state, writing }));
    await newIdTaken(checkpointFolder);
    log.info({ channel: state.id, before: state.formerIds.at(-1) }, "the channel has a new id");
  }

  /** Only when nothing is being appended any more. */
  async close(): Promise<void> {
    await this.#tidying.end();
    this.#closed = true;
    await this.save();
    await this.#checkpoint.close();
  }

  #snapshot({ state, writing }: ToSave): ChannelState {
    const { id, formerIds, runs = [], limits, done, next, missingBefore, returning } = state;
    const { inMemory, segments } = this.#parts;
    const numbers = {
      done: rangesToSave(done.copy(), segments.all, MOST_RANGES),
      next,
      written: next - 1 - writing,
      missing: [...missingBefore, ...state.missing],
      returning,
    };
    return { id, formerIds, runs, limits, closed: this.#closed, inMemory, ...numbers };
  }

  async #save(): Promise<void> {
    if (this.#toSave === undefined) return;
    const { checkpointFolder: folder, segments } = this.#parts;
    const toSave = this.#toSave();
    const snapshot = this.#snapshot(toSave);
    const done = toSave.state.done.copy();
    try {
      await this.#checkpoint.save(snapshot);
      // Either half may be damaged: both say what becomes of files behind an open event before these go.
      if (segments.isDoneBehind(snapshot.done)) await this.#checkpoint.save(snapshot);
      toSave.state.savedNext = snapshot.next;
      this.#unsaved.works({ folder });
    } catch (error) {
      const message = "checkpoint not written: a crash now would deliver events again";
      return this.#unsaved.failed("error", error, { message, fields: { folder } });
    }
    // Not what is done by now: after a kill the checkpoint must know what the removed files held.
    await this.#tidying.run(snapshot.done, done);
  }
}
