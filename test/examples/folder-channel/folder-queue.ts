import type { ChannelContext, Event, FolderLock, Waiting } from "deneb/sdk";
import {
  type Amount,
  type ChannelLimits,
  channelStopped,
  type EventQueue,
  type QueuedEvent,
  type Reservation,
  Room,
  SequenceRing,
  WaitingTakes,
} from "deneb/sdk/channel";
import { EventFiles } from "./event-files.js";

/** First in, first out; a file is removed when all its events are released. */
export class FolderQueue implements EventQueue {
  readonly #limits: ChannelLimits;
  readonly #folder: string;
  readonly #lockFolder: ChannelContext["lockFolder"];
  readonly #files: EventFiles;
  readonly #room: Room;
  readonly #waiting = new SequenceRing();
  readonly #takes = new WaitingTakes();
  /** By sequence number: the file of an event. */
  readonly #fileOf = new Map<number, OpenFile>();
  #lock: FolderLock | undefined;
  #sequence = 0;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(limits: ChannelLimits, folder: string, lockFolder: ChannelContext["lockFolder"]) {
    this.#limits = limits;
    this.#folder = folder;
    this.#lockFolder = lockFolder;
    this.#files = new EventFiles(folder);
    this.#room = new Room(limits, () => ({ events: this.size, bytes: 0 }));
  }

  /** Events taken but not released are still in their files. */
  get size(): number {
    return this.#fileOf.size;
  }

  /** What is found may have been delivered before: a file says nothing of the events that were released of it. */
  async open(): Promise<void> {
    this.#lock = await this.#lockFolder(this.#folder);
    for (const { name, events } of await this.#files.read()) this.#append(name, events, true);
  }

  async add(events: readonly Event[]): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    const amount = { events: events.length, bytes: 0 };
    await this.#room.enter(amount);
    await this.#write(events, amount);
  }

  async reserve(events: readonly Event[], waiting: Waiting): Promise<Reservation> {
    const amount = { events: events.length, bytes: 0 };
    await this.#room.enter(amount, waiting);
    return { add: () => this.#write(events, amount), release: () => this.#room.settle(amount) };
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    if (this.#closed) return [];
    return this.#waiting.length > 0 ? this.#waiting.shift(max) : await this.#takes.wait(max, signal);
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    if (this.#closed) throw channelStopped(this.#limits.channel);
    const done: string[] = [];
    for (const { sequence } of taken) {
      const file = this.#fileOf.get(sequence);
      this.#fileOf.delete(sequence);
      if (file === undefined) continue;
      file.open -= 1;
      if (file.open === 0) done.push(file.name);
    }
    this.#room.admitWaiting();
    await this.#files.remove(done);
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#waiting.restore(taken);
    this.#serveWaiting();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#room.close();
    this.#takes.releaseAll();
    await this.#writing;
    await this.#lock?.release();
    this.#lock = undefined;
  }

  /** One put after another, in the order of their files. The put has its room; settled, its events are held instead. */
  async #write(events: readonly Event[], amount: Amount): Promise<void> {
    const turn = this.#writing.then(async () => {
      try {
        if (this.#closed) throw channelStopped(this.#limits.channel);
        this.#append(await this.#files.write(events), events, false);
      } finally {
        this.#room.settle(amount);
      }
    });
    this.#writing = turn.catch(() => undefined);
    await turn;
  }

  #append(name: string, events: readonly Event[], redelivered: boolean): void {
    const file: OpenFile = { name, open: events.length };
    const queued = events.map((event) => ({ sequence: ++this.#sequence, event, redelivered }));
    for (const { sequence } of queued) this.#fileOf.set(sequence, file);
    this.#waiting.push(queued);
    this.#serveWaiting();
  }

  #serveWaiting(): void {
    for (let take = this.#takes.first; take !== undefined && this.#waiting.length > 0; take = this.#takes.first) {
      take.settle(this.#waiting.shift(take.max));
    }
  }
}

interface OpenFile {
  readonly name: string;
  /** Events that are not released. */
  open: number;
}
