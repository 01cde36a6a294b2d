import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadLetters, type OpenLetter } from "../../../core/pipeline/dead-letters.js";
import { ReplayedLetters } from "../../../core/pipeline/replayed-letters.js";
import { AgentError, type Event } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const { log } = recordingLog();

/** What a durable channel returns, as new objects each time. */
const taken = (): readonly Event[] =>
  ["good", "bad", "bad"].map((body) => ({ headers: { "transaction-id": "t1" }, body }));
const from = { positions: { after: (count: number) => `channel:run:${count}`, coveredBy: () => [] } };

async function open(letters: DeadLetters): Promise<readonly OpenLetter[]> {
  const all: OpenLetter[] = [];
  for await (const letter of letters.open("s1")) all.push(letter);
  return all;
}

test("an event that comes again after a kill keeps its dead letter, and two identical events keep two", async (context) => {
  const folder = await tempFolder(context);
  const sink = new ScriptedSink((events) =>
    events.some(({ body }) => body === "bad") ? new AgentError("BAD", "storing", { retryable: false }) : undefined,
  );
  const before = new DeadLetters(folder);
  await deliver(chainTo({ sink, deadLetters: before, log }).chain, taken(), { from });
  const first = await open(before);
  const after = new DeadLetters(folder);

  await deliver(chainTo({ sink, deadLetters: after, log }).chain, taken(), { from });

  assert.equal(new Set(first.map(({ id }) => id)).size, 2);
  assert.deepEqual(await open(after), first);
});

test("an event that was kept before a kill is left out when its channel returns it", async (context) => {
  const folder = await tempFolder(context);
  const refusing = new ScriptedSink(() => new AgentError("BAD", "storing", { retryable: false }));
  const deadLetters = new DeadLetters(folder);
  await deliver(chainTo({ sink: refusing, deadLetters, log }).chain, taken().slice(1), { from });
  const channel = { durable: true, size: 3 };
  const replayed = new ReplayedLetters({ sink: "s1", deadLetters: new DeadLetters(folder), channel, log });
  await replayed.start();
  const events = taken();
  const [, one, other] = events;

  assert.deepEqual(replayed.repeated(events), [one, other]);
  assert.deepEqual(replayed.repeated(taken()), [], "what was put after the start is new");
});

test("a channel that forgets gets new letters for identical events", async (context) => {
  const deadLetters = new DeadLetters(await tempFolder(context));
  const sink = new ScriptedSink(() => new AgentError("BAD", "storing", { retryable: false }));
  const { chain } = chainTo({ sink, deadLetters, log });

  await deliver(chain, taken().slice(1, 2));
  await deliver(chain, taken().slice(1, 2));

  assert.equal((await open(deadLetters)).length, 2);
});
