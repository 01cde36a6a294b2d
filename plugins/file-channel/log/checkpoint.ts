import { constants, type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { crc32 } from "node:zlib";
import { AgentError, codeOf } from "deneb/sdk";
import { DoneRanges, type Range } from "./done-ranges.js";
import {
  LOOK_MILLIS,
  linksOf,
  newerVersion,
  PRIVATE,
  refuseNoFile,
  syncFolder,
  WITHOUT_ROOM,
  writeFully,
} from "./files.js";

/** Runs that a channel remembers; older ones are forgotten. */
export const MOST_RUNS = 1000;

/** The durable state of a channel: its id, which events are done, and the next unused sequence number. */
export interface ChannelState {
  readonly id: string;
  /** Of `MOST_RANGES` ranges at the most. */
  readonly done: DoneRanges;
  readonly next: number;
  /** True when the channel was closed: then no number above `next` was used. */
  readonly closed: boolean;
  /** Every number up to this one was on disk, or done; undefined in files of earlier versions. */
  readonly written?: number | undefined;
  /** True when numbers may have been given to events in memory alone. */
  readonly inMemory: boolean | undefined;
  /** The runs of the channel that handed out events, oldest first. */
  readonly runs: readonly string[];
  /** By run: the largest number that a position of it can have, where another opening has gone on above it. */
  readonly limits: RunLimits;
  /** Ids that it had before; files may still have them. */
  readonly formerIds: readonly string[];
  /** Numbers that were in no file at a start, and count as done until a file with them is back. */
  readonly missing: readonly Range[];
  /** The first number under which such events were being written again; undefined when none were. */
  readonly returning?: number | undefined;
}

/** The newest at the end. */
export type RunLimits = ReadonlyMap<string, number>;

export const CHECKPOINT_FILE = "checkpoint";
/** Version of the format; a file without one has the first version. */
const VERSION = 1;

const SLOT_BYTES = 32 * 1024;
const PREFIX_BYTES = 8;
/** Limits of older runs are forgotten. */
const MOST_LIMITS = 20;
/** Keeps the text within its slot. */
export const MOST_RANGES = 500;
/** Older ones are forgotten: what an unclean end jumped over is among them. */
const MOST_MISSING = 50;

/**
 * The state on disk, in two slots written in turn: when one is torn or damaged, the other has the state before.
 * The file has its full size from the beginning, so that it can be written on a full disk.
 */
export class Checkpoint {
  readonly #file: string;
  #handle: FileHandle | undefined;
  #generation = 0;
  #damaged = false;
  /** How many names the file had when it was opened: some file systems count none. */
  #links = 0;
  #lookedAt = 0;

  constructor(folder: string) {
    this.#file = path.join(folder, CHECKPOINT_FILE);
  }

  /** True when one slot could not be read: it may have been newer than the one that was. */
  get damaged(): boolean {
    return this.#damaged;
  }

  /** Opens the file and returns the newest state in it; undefined when none can be read. */
  async open(): Promise<ChannelState | undefined> {
    await refuseNoFile(this.#file);
    const handle = await open(this.#file, constants.O_RDWR | constants.O_CREAT, PRIVATE);
    this.#handle = handle;
    await this.#noteLinks(handle);
    const bytes = await handle.readFile();
    refuseNewerCheckpoint(this.#file, bytes);
    const slots = slotsOf(bytes);
    if (bytes.length < 2 * SLOT_BYTES) await this.#allocate(handle, bytes.length);
    const [newest] = slots
      .map(readSlot)
      .filter((content) => content !== undefined)
      .sort((one, other) => other.generation - one.generation);
    this.#generation = newest?.generation ?? 0;
    // From the second save on both slots hold a state: then one of zeros was lost.
    const isLost = (slot: Buffer) => this.#generation > 1 || slot.some((byte) => byte !== 0);
    this.#damaged = slots.some((slot) => readSlot(slot) === undefined && isLost(slot));
    return newest?.state;
  }

  async save(state: ChannelState): Promise<void> {
    if (this.#handle === undefined) return;
    if (await this.#isRemoved(this.#handle)) await this.#makeAgain(state);
    await this.#write(this.#handle, state);
  }

  async #write(handle: FileHandle, state: ChannelState): Promise<void> {
    const generation = this.#generation + 1;
    const slot = slotBytes(state, generation);
    await writeFully(handle, slot, (generation % 2) * SLOT_BYTES);
    await handle.datasync();
    this.#generation = generation;
  }

  /** What is written to a file without a name is gone with the process. */
  async #isRemoved(handle: FileHandle): Promise<boolean> {
    const now = performance.now();
    if (this.#links === 0 || now - this.#lookedAt < LOOK_MILLIS) return false;
    const isRemoved = (await linksOf(handle)) === 0;
    // One that could not be made again is tried again at once.
    if (!isRemoved) this.#lookedAt = now;
    return isRemoved;
  }

  /** What has its place by now is older than what this process knows. Both slots hold the state, so that none counts as lost. */
  async #makeAgain(state: ChannelState): Promise<void> {
    await refuseNoFile(this.#file);
    const handle = await open(this.#file, constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, PRIVATE);
    try {
      await this.#allocate(handle, 0);
      await this.#write(handle, state);
      await this.#noteLinks(handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
    await this.#handle?.close();
    this.#handle = handle;
  }

  async #noteLinks(handle: FileHandle): Promise<void> {
    this.#links = await linksOf(handle);
    this.#lookedAt = performance.now();
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #allocate(handle: FileHandle, from: number): Promise<void> {
    try {
      await writeFully(handle, Buffer.alloc(2 * SLOT_BYTES - from), from);
      await handle.sync();
      await syncFolder(path.dirname(this.#file));
    } catch (cause) {
      const message = `making the checkpoint "${this.#file}" (${remedyOf(codeOf(cause))})`;
      throw new AgentError("FOLDER_UNUSABLE", message, { cause, retryable: false });
    }
  }
}

function remedyOf(code: string | undefined): string {
  const folder = "set checkpointDir to a folder on another disk";
  if (code === "EFBIG") return "raise the limit for the size of a file (ulimit -f, LimitFSIZE)";
  return WITHOUT_ROOM.has(code) ? `free ${(2 * SLOT_BYTES) / 1024} KiB there, or ${folder}` : folder;
}

function slotsOf(bytes: Buffer): readonly Buffer[] {
  return [0, 1].map((slot) => bytes.subarray(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES));
}

/** Throws code `CHANNEL_OF_NEWER_VERSION`. Every version keeps the prefix of a slot, and JSON with its version behind it. */
export function refuseNewerCheckpoint(file: string, bytes: Buffer): void {
  const latest = Math.max(...slotsOf(bytes).map((slot) => contentOf(slot)?.version ?? VERSION));
  if (latest > VERSION) throw newerVersion(file, latest);
}

function slotBytes({ done, runs, limits, missing, ...state }: ChannelState, generation: number): Buffer {
  const content = {
    version: VERSION,
    ...state,
    generation,
    low: done.low,
    ranges: pairs(done.ranges),
  };
  const lists = { runs: runs.slice(-MOST_RUNS).join(""), limits: [...limits].slice(-MOST_LIMITS) };
  const away = missing.length === 0 ? {} : { missing: pairs(missing.slice(-MOST_MISSING)) };
  const text = Buffer.from(JSON.stringify({ ...content, ...lists, ...away }));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32LE(text.length, 0);
  prefix.writeUInt32LE(crc32(text), 4);
  return Buffer.concat([prefix, text]);
}

type Pair = readonly [from: number, to: number];

function pairs(ranges: readonly Range[]): readonly Pair[] {
  return ranges.map(({ from, to }): Pair => [from, to]);
}

function rangeOf([from, to]: Pair): Range {
  return { from, to };
}

interface Slot {
  readonly generation: number;
  readonly state: ChannelState;
}

/** What a slot holds, whatever its version; undefined when it is empty or damaged. */
function contentOf(slot: Buffer): Content | undefined {
  if (slot.length < PREFIX_BYTES) return undefined;
  const text = slot.subarray(PREFIX_BYTES, PREFIX_BYTES + slot.readUInt32LE(0));
  if (text.length === 0 || text.length !== slot.readUInt32LE(0) || slot.readUInt32LE(4) !== crc32(text))
    return undefined;
  return JSON.parse(text.toString());
}

function readSlot(slot: Buffer): Slot | undefined {
  const content = contentOf(slot);
  if (content === undefined) return undefined;
  const { id, generation, next, closed = false, written, returning, low, ranges } = content;
  const { inMemory, runs = "", limits = [], formerIds = [], missing = [] } = content;
  const done = new DoneRanges(low, ranges.map(rangeOf));
  const lists = { runs: runs.match(/.{12}/g) ?? [], limits: new Map(limits), missing: missing.map(rangeOf) };
  return { generation, state: { id, done, next, closed, written, inMemory, formerIds, returning, ...lists } };
}

/** The checksum proves that it was written by this file, or that of a later version; so it has this shape, or names its version. */
interface Content {
  readonly version?: number;
  readonly id: string;
  readonly generation: number;
  readonly next: number;
  readonly closed?: boolean;
  readonly written?: number;
  readonly inMemory?: boolean;
  readonly low: number;
  readonly ranges: readonly Pair[];
  /** One after another, each of 12 characters. */
  readonly runs?: string;
  readonly limits?: readonly (readonly [string, number])[];
  readonly formerIds?: readonly string[];
  readonly missing?: readonly Pair[];
  readonly returning?: number;
}
