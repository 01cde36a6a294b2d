import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type EventQueue,
  type QueuedEvent,
  QueuePut,
  QueueTake,
  Room,
  SequenceRing,
  WaitingTakes,
} from "../../core/sdk/channel/index.js";
import { AgentError, type Channel, definePlugin, type Event } from "../../core/sdk/index.js";
import { pluginConformance } from "../../core/testing/index.js";

/** A log as a server would keep it: one connection at a time. */
class OwnedLog {
  readonly entries = new Map<number, Event>();
  /** What some connection was given, by sequence. */
  readonly given = new Set<number>();
  owner: OwnedQueue | undefined;
  sequence = 0;
}

interface Limits {
  readonly capacity: number;
  readonly transactionCapacity: number;
  readonly waitSeconds: number;
}

/** The queue of the connection that has the log. */
class OwnedQueue implements EventQueue {
  readonly #log: OwnedLog;
  readonly #room: Room;
  readonly #takes = new WaitingTakes();
  readonly #waiting = new SequenceRing();

  constructor(log: OwnedLog, limits: Limits) {
    this.#log = log;
    this.#room = new Room({ channel: "c", ...limits }, () => ({ events: log.entries.size, bytes: 0 }));
  }

  connect(): void {
    if (this.#log.owner !== undefined)
      throw new AgentError("LOG_IN_USE", "opening the log: another agent has it", { retryable: false });
    this.#log.owner = this;
    this.#waiting.push(
      [...this.#log.entries].map(([sequence, event]) => ({
        sequence,
        event,
        redelivered: this.#log.given.has(sequence),
      })),
    );
  }

  /** As when its process ends: the log has no connection any more. */
  cut(): void {
    if (this.#log.owner === this) this.#log.owner = undefined;
  }

  async add(events: readonly Event[]): Promise<void> {
    const amount = { events: events.length, bytes: 0 };
    await this.#room.enter(amount);
    const added = events.map((event) => ({ sequence: ++this.#log.sequence, event }));
    for (const { sequence, event } of added) this.#log.entries.set(sequence, event);
    this.#waiting.push(added);
    this.#room.settle(amount);
    this.#serve();
  }

  async take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    const taken = this.#waiting.length > 0 ? this.#waiting.shift(max) : await this.#takes.wait(max, signal);
    for (const { sequence } of taken) this.#log.given.add(sequence);
    return taken;
  }

  async release(taken: readonly QueuedEvent[]): Promise<void> {
    for (const { sequence } of taken) this.#log.entries.delete(sequence);
    this.#room.admitWaiting();
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#waiting.restore(taken);
    this.#serve();
  }

  close(): void {
    this.#room.close();
    this.#takes.releaseAll();
    this.cut();
  }

  get size(): number {
    return this.#log.entries.size;
  }

  #serve(): void {
    for (let take = this.#takes.first; take !== undefined && this.#waiting.length > 0; take = this.#takes.first)
      take.settle(this.#waiting.shift(take.max));
  }
}

const logs = new Map<string, OwnedLog>();
const queues = new WeakMap<Channel, OwnedQueue>();

const property = { doc: "A limit.", format: "count" } as const;
const owned = definePlugin({
  kind: "channel",
  type: "owned",
  summary: "Keeps events in a log that one agent has.",
  stability: "beta",
  config: {
    log: { doc: "Name of the log.", format: "text", default: "log" },
    capacity: { ...property, default: 10 },
    transactionCapacity: { ...property, default: 5 },
    waitSeconds: { ...property, default: 0 },
  },
  create({ log: name, transactionCapacity: most, ...limits }) {
    const log = logs.get(name) ?? new OwnedLog();
    logs.set(name, log);
    const queue = new OwnedQueue(log, { ...limits, transactionCapacity: most });
    const channel: Channel = {
      durable: true,
      redelivers: true,
      get size() {
        return queue.size;
      },
      transactionCapacity: most,
      openPut: (events = 0) => new QueuePut(queue, { channel: "c", most: Math.max(events, most) }),
      openTake: () => new QueueTake(queue, { channel: "c", most }),
      start: async () => queue.connect(),
      stop: async () => queue.close(),
    };
    queues.set(channel, queue);
    return channel;
  },
});

const limits = (wanted: Limits, log: string) => ({ ...wanted, log });
const promised = { afterCrash: "same", twoAgents: "refused" } as const;
const cut = (channel: Channel) => queues.get(channel)?.cut();

const cases = await pluginConformance(owned, { limits, channel: { ...promised, abandon: cut } });
for (const { name, run } of cases) test(name, run);

test("a log that refuses a second connection cannot be opened again before the first one is cut", async () => {
  const uncut = await pluginConformance(owned, { limits, channel: promised });
  const crash = uncut.find(({ name }) => name.startsWith("after a crash there is what was committed"));

  await assert.rejects(async () => crash?.run(), { code: "LOG_IN_USE" });
});
