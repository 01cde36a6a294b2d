import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CumulativeRelease,
  type EventQueue,
  type QueuedEvent,
  QueuePut,
  QueueTake,
  Room,
  SequenceRing,
  WaitingTakes,
} from "../../core/sdk/channel/index.js";
import type { Channel, Event } from "../../core/sdk/index.js";
import type { ChannelLimits } from "../../core/testing/index.js";
import { channelConformance } from "../../core/testing/index.js";

/** What several agents share, as a server would keep it. */
class SharedLog {
  readonly waiting = new SequenceRing();
  readonly released = new CumulativeRelease();
  readonly takes = new Set<WaitingTakes>();
  sequence = 0;

  serve(): void {
    for (const takes of this.takes)
      for (let take = takes.first; take !== undefined && this.waiting.length > 0; take = takes.first)
        take.settle(this.draw(take.max));
  }

  draw(max: number): readonly QueuedEvent[] {
    const events = this.waiting.shift(max);
    this.released.take(events.map(({ sequence }) => sequence));
    return events;
  }
}

/** The channel of one agent: it knows what it holds, and not what the log holds. */
class SharingQueue implements EventQueue {
  readonly #log: SharedLog;
  readonly #room: Room;
  readonly #takes = new WaitingTakes();
  #taken = 0;

  constructor(log: SharedLog, limits: ChannelLimits) {
    this.#log = log;
    log.takes.add(this.#takes);
    this.#room = new Room({ channel: "c", ...limits }, () => ({ events: log.waiting.length + this.#taken, bytes: 0 }));
  }

  async add(events: readonly Event[]): Promise<void> {
    const amount = { events: events.length, bytes: 0 };
    await this.#room.enter(amount);
    this.#log.waiting.push(events.map((event) => ({ sequence: ++this.#log.sequence, event })));
    this.#room.settle(amount);
    this.#log.serve();
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    const taken = this.#log.waiting.length > 0 ? this.#log.draw(max) : await this.#takes.wait(max, signal);
    this.#taken += taken.length;
    return taken;
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    this.#taken -= taken.length;
    this.#log.released.release(taken.map(({ sequence }) => sequence));
    this.#room.admitWaiting();
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#taken -= taken.length;
    this.#log.waiting.restore(taken);
    this.#log.serve();
  }

  close(): void {
    this.#log.takes.delete(this.#takes);
    this.#room.close();
    this.#takes.releaseAll();
  }
}

interface Opened {
  readonly log: SharedLog;
  readonly limits: ChannelLimits;
}

const opened = new WeakMap<Channel, Opened>();

async function openOn({ log, limits }: Opened): Promise<Channel> {
  const queue = new SharingQueue(log, limits);
  const { transactionCapacity: most } = limits;
  const channel: Channel = {
    size: undefined,
    transactionCapacity: most,
    openPut: (events = 0) => new QueuePut(queue, { channel: "c", most: Math.max(events, most) }),
    openTake: () => new QueueTake(queue, { channel: "c", most }),
    start: async () => {},
    stop: async () => queue.close(),
  };
  opened.set(channel, { log, limits });
  return channel;
}

const cases = channelConformance((limits) => openOn({ log: new SharedLog(), limits }), {
  twoAgents: "shared",
  second: async (first) => {
    const place = opened.get(first);
    assert.ok(place !== undefined);
    return await openOn(place);
  },
});
for (const { name, run } of cases) test(name, run);
