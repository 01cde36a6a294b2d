import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CountedChannel } from "../../../core/pipeline/counted-channel.js";
import { replayedEvent } from "../../../core/pipeline/dead-letters/dead-letter.js";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { ReplayedLetters } from "../../../core/pipeline/dead-letters/replayed-letters.js";
import { ChannelOutlet } from "../../../core/pipeline/delivery/channel-outlet.js";
import { type Settled, Settlements } from "../../../core/pipeline/delivery/settlements.js";
import { TakenBatch } from "../../../core/pipeline/delivery/taken-batch.js";
import type { Event, Sink } from "../../../core/sdk/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { feedOf, put } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { SharedLog } from "../../support/shared-channel.js";
import { until } from "../../support/until.js";
import { agentOf, letter } from "../dead-letters/letters-agent.js";

const { log } = recordingLog();
const id = "l.0.1-a";
const away = new AbortController().signal;

/** Two agents; the first has replayed a letter, whose event the second finds done by another one. */
async function withReplayed(context: TestContext) {
  const shared = new SharedLog();
  const [first, second] = [await agentOf(context, shared), await agentOf(context, shared)];
  await first.letters.keep([letter(id)]);
  await first.letters.mark("k1", [id], "replaying");
  const sentAt = (await first.letters.entry("k1", id))?.offset;
  await until(
    () => second.letters.entry("k1", id),
    (entry) => entry?.offset === sentAt,
  );
  return { shared, first, second, event: replayedEvent(letter(id), sentAt) };
}

/** A sink that finds everything done by others. */
const elsewhere: Sink = {
  start: async () => {},
  stop: async () => {},
  persist: async ({ events }) => ({ requestBytes: 1, responseBytes: 1, elsewhere: events }),
};

const refusing: Sink = {
  start: async () => {},
  stop: async () => {},
  persist: async () => {
    throw new Error("nothing is to be stored");
  },
};

/** What the books have of an event whose sink says that others have stored it. */
async function booksOf({ letters }: Awaited<ReturnType<typeof agentOf>>, event: Event): Promise<readonly Settled[]> {
  const config = { capacity: 10, transactionCapacity: 10, "keep-alive": 0 };
  const of = { name: "c1", log, dataDir: "unused", run: "run", now: () => new Date(0) };
  const outlet = new ChannelOutlet(new CountedChannel(new MemoryChannel(config, of)));
  const replayed = new ReplayedLetters({ sink: "k1", deadLetters: letters, log });
  const books: Settled[] = [];
  const account = { settled: (settled: Settled) => books.push(settled) };
  const { channel } = outlet;
  const { feed } = feedOf({ channel, outlet, sink: elsewhere, deadLetters: letters, more: { replayed, account }, log });
  const transaction = channel.openPut();
  transaction.put(event);
  await transaction.commit();
  feed.start();
  await feed.drain(away);
  return books;
}

test("a replayed event that failed again at another agent is a dead letter in the books of an agent that finds it done", async (context) => {
  const { first, second, event } = await withReplayed(context);
  await first.letters.keep([letter(id)]);

  const books = await booksOf(second, event);

  assert.deepEqual(books, [{ stored: 0, "dead-lettered": 1, filtered: 0 }]);
  await second.has(id);
});

/** The same letter is replayed once more by the second agent. */
async function replayedAgain({ second }: Pick<Awaited<ReturnType<typeof withReplayed>>, "second">): Promise<Event> {
  await second.letters.mark("k1", [id], "replaying");
  return replayedEvent(letter(id), (await second.letters.entry("k1", id))?.offset);
}

/** Has the second agent, which is the only one by then, deliver events one after another: batches of one, or one batch of all. */
async function delivered(
  { shared, second }: Pick<Awaited<ReturnType<typeof withReplayed>>, "shared" | "second">,
  sink: Sink,
  batches: readonly (readonly Event[])[],
): Promise<void> {
  const outlet = new ChannelOutlet(new CountedChannel(second.channel));
  const replayed = new ReplayedLetters({ sink: "k1", deadLetters: second.letters, log });
  const { channel } = second;
  const { feed } = feedOf({ channel, outlet, sink, deadLetters: second.letters, more: { replayed }, log });
  let count = 0;
  for (const events of batches) {
    const transaction = channel.openPut();
    for (const event of events) transaction.put(event);
    await transaction.commit();
    count += events.length;
    feed.start();
    await until(
      async () => shared.parts.reduce((sum, { passed }) => sum + passed, 0),
      (passed) => passed === count,
    );
  }
  await feed.drain(away);
}

test("of two replays of a letter the one that is found stored first is stored in the books, and the other one filtered, whoever made the row", async (context) => {
  const replays = await withReplayed(context);
  const { shared, first, event } = replays;
  await first.stop();
  const again = await replayedAgain(replays);

  await delivered(replays, elsewhere, [[again], [event]]);

  assert.deepEqual(shared.books, { stored: 1, deadLettered: 0, filtered: 1 });
  await replays.second.has();
});

test("an agent that has stored a replayed event counts it as filtered once another replay of the letter counts as stored", async (context) => {
  const replays = await withReplayed(context);
  const { first, second, event } = replays;
  const again = await replayedAgain(replays);
  const lettersOf = ({ letters }: typeof first) => new ReplayedLetters({ sink: "k1", deadLetters: letters, log });

  const found = await lettersOf(second).doneElsewhere([again]);
  const others = await lettersOf(first).stored([event]);

  assert.deepEqual(found, { failed: [], others: [] });
  assert.deepEqual(others, [event]);
  await second.has();
  assert.deepEqual(await lettersOf(second).doneElsewhere([event, again]), { failed: [], others: [event] });
  assert.deepEqual(await lettersOf(first).ownStored([event, again]), [again]);
});

test("a letter that is stored, and kept once more by an agent that did not know it, is stored once in the books", async (context) => {
  const replays = await withReplayed(context);
  const { shared, first, second, event } = replays;
  await new ReplayedLetters({ sink: "k1", deadLetters: first.letters, log }).stored([event]);
  await second.has();
  await second.letters.keep([letter(id)]);
  await first.stop();
  const again = await replayedAgain(replays);

  await delivered(replays, elsewhere, [[again]]);

  assert.deepEqual(shared.books, { stored: 0, deadLettered: 0, filtered: 1 });
  await second.has();
});

test("a replayed event that is left out for a later one, and turns out to be the one that is stored, is stored in the books", async (context) => {
  const replays = await withReplayed(context);
  const { shared, first, second, event } = replays;
  await first.stop();
  const again = await replayedAgain(replays);
  const marking: Sink = {
    ...elsewhere,
    persist: async ({ events }) => {
      await new ReplayedLetters({ sink: "k1", deadLetters: second.letters, log }).stored([event]);
      return { requestBytes: 1, responseBytes: 1, elsewhere: events };
    },
  };

  await delivered(replays, marking, [[event, again]]);

  assert.deepEqual(shared.books, { stored: 1, deadLettered: 0, filtered: 1 });
});

test("a letter that failed elsewhere and was replayed again is stored by an agent that gets both events at once", async (context) => {
  const replays = await withReplayed(context);
  const { shared, first, second, event } = replays;
  await first.letters.keep([letter(id)]);
  await first.stop();
  const again = await replayedAgain(replays);
  const stored: Event[] = [];
  const storing: Sink = {
    ...elsewhere,
    persist: async ({ events }) => {
      stored.push(...events);
      return { requestBytes: 1, responseBytes: 1 };
    },
  };

  await delivered(replays, storing, [[event, again]]);

  assert.deepEqual(stored, [again]);
  assert.deepEqual(shared.books, { stored: 1, deadLettered: 0, filtered: 1 });
  await second.has();
});

test("a replayed event that another agent has stored is stored in the books of one that is given it again, and a later replay is filtered", async (context) => {
  const { shared, first, second, event } = await withReplayed(context);
  await new ReplayedLetters({ sink: "k1", deadLetters: first.letters, log }).stored([event]);
  await second.has();
  await first.stop();

  await delivered({ shared, second }, refusing, [[event, replayedEvent(letter(id), 100)]]);

  assert.deepEqual(shared.books, { stored: 1, deadLettered: 0, filtered: 1 });
});

test("of two replays of a letter that other agents are done with, the one that is stored is known by the mark of the letter", async (context) => {
  const { first, second, event } = await withReplayed(context);
  const later = replayedEvent(letter(id), 100);
  await new ReplayedLetters({ sink: "k1", deadLetters: first.letters, log }).stored([event]);
  await second.has();

  const replayed = new ReplayedLetters({ sink: "k1", deadLetters: second.letters, log });

  assert.deepEqual(await replayed.doneElsewhere([event, later]), { failed: [], others: [later] });
});

test("an event that became a dead letter of another agent just now is one in the books of an agent that finds it done", async (context) => {
  const shared = new SharedLog(1);
  const { channel, folder } = await agentOf(context, shared);
  const outlet = new ChannelOutlet(new CountedChannel(channel));
  const known = new Set<string>();
  outlet.letters = {
    has: (name) => known.has(name),
    upToDate: async () => {
      known.add("shared-log.0.0");
    },
    stored: () => {},
  };
  const { feed } = feedOf({ channel, outlet, sink: elsewhere, deadLetters: new DeadLetters(folder), log });
  await put(channel, "a", "b");

  feed.start();
  await until(
    async () => shared.parts[0]?.passed,
    (passed) => passed === 2,
  );
  await feed.drain(away);

  assert.deepEqual(shared.books, { stored: 1, deadLettered: 1, filtered: 0 });
});

test("which events this agent has stored is said to those who follow the dead letters of others", async (context) => {
  const shared = new SharedLog(1);
  const { channel, folder } = await agentOf(context, shared);
  const outlet = new ChannelOutlet(new CountedChannel(channel));
  const said: string[] = [];
  outlet.letters = { has: () => false, upToDate: async () => {}, stored: (ids) => said.push(...ids) };
  const sink: Sink = {
    start: async () => {},
    stop: async () => {},
    persist: async ({ events }) => ({ requestBytes: 1, responseBytes: 1, elsewhere: events.slice(0, 1) }),
  };
  const { feed } = feedOf({ channel, outlet, sink, deadLetters: new DeadLetters(folder), log });
  await put(channel, "a", "b", "c");

  feed.start();
  await until(
    async () => shared.parts[0]?.passed,
    (passed) => passed === 3,
  );
  await feed.drain(away);

  assert.deepEqual(said, ["shared-log.0.1", "shared-log.0.2"]);
});

test("a replayed event that another agent was given before is stored by that one, also for the books", () => {
  const event: Event = replayedEvent(letter(id), 1);
  const settlements = new Settlements();
  const transaction = { isRedelivered: () => true };
  const batch = new TakenBatch([event], { whole: [event], transaction, settlements });

  batch.settleLeftOut([event]);

  assert.equal(settlements.outcomeOf(event), "elsewhere");
});
