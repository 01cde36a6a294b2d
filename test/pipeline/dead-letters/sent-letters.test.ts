import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { SharedLog } from "../../support/shared-channel.js";
import { until } from "../../support/until.js";
import { agentOf, letter } from "./letters-agent.js";

/** Two agents of which one has replayed a letter, and what it has sent says of it. */
async function withSent(context: TestContext) {
  const shared = new SharedLog();
  const [first, second] = [await agentOf(context, shared), await agentOf(context, shared)];
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "replaying");
  const sentAt = (await first.letters.entry("k1", "l.0.1-a"))?.offset;
  await until(
    () => second.letters.entry("k1", "l.0.1-a"),
    (entry) => entry?.mark === "replaying",
  );
  return { first, second, sent: [{ id: "l.0.1-a", sentAt }] };
}

test("a letter that another agent is done with is stored for all", async (context) => {
  const { first, second, sent } = await withSent(context);

  const stored = await second.letters.storedUnlessChanged("k1", sent);

  assert.deepEqual(stored, ["l.0.1-a"]);
  await first.has();
  await second.has();
});

test("a letter that has failed again stays open although an agent that has not heard of it says that others have stored it", async (context) => {
  const { first, second, sent } = await withSent(context);
  const deaf = new DeadLetters(second.folder);
  const before = second.letters.apply.bind(second.letters);
  let hears = () => {};
  const heard = new Promise<void>((resolve) => {
    hears = resolve;
  });
  second.letters.apply = async (...changes) => {
    await heard;
    return await before(...changes);
  };
  await first.letters.keep([letter("l.0.1-a")]);
  assert.equal((await deaf.entry("k1", "l.0.1-a"))?.mark, "replaying");

  const marking = second.letters.storedUnlessChanged("k1", sent);
  await until(
    async () => first.channel.shared.letters.length,
    (count) => count === 4,
  );
  hears();

  assert.deepEqual(await marking, []);
  await first.has("l.0.1-a");
  await second.has("l.0.1-a");
  assert.equal((await second.letters.entry("k1", "l.0.1-a"))?.mark, "waiting");
});

test("a letter that was sent once more is not stored because of what was sent before", async (context) => {
  const { first, second, sent } = await withSent(context);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "replaying");

  assert.deepEqual(await second.letters.storedUnlessChanged("k1", sent), []);

  await first.has("l.0.1-a");
});

test("an agent of a version before says less of what it sent: the letter is stored where it is known to be on its way", async (context) => {
  const { first, second, sent } = await withSent(context);
  const before = sent.map(({ id }) => ({ id, sentAt: undefined }));

  const stored = await second.letters.storedUnlessChanged("k1", before);
  await first.has();
  await second.letters.keep([letter("l.0.2-a")]);

  assert.deepEqual(stored, ["l.0.1-a"]);
  assert.deepEqual(await second.letters.storedUnlessChanged("k1", [{ id: "l.0.2-a", sentAt: undefined }]), []);
});

test("which event of a letter is stored is known after a restart, also where the letter was kept once more and its file written anew", async (context) => {
  const { first, sent } = await withSent(context);
  await first.letters.markStored("k1", sent);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.compact("k1");
  await first.stop();

  const restarted = new DeadLetters(first.folder);
  await restarted.share("k1", first.follower);

  const { mark, storedFrom } = (await restarted.entry("k1", "l.0.1-a")) ?? {};
  assert.deepEqual([mark, storedFrom], ["waiting", sent[0]?.sentAt]);
});

test("for another group over the log a letter is open until what is said of it counts", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const entry = (record: object, number: number, more: object = {}) =>
    JSON.stringify({ version: 1, sink: "k1", record, agent: "a", group: "other", by: "b", number, ...more });
  const stored = { id: "o.0.1-a", mark: "stored", time: "2026-01-15T10:20:30.123Z", run: "r" };
  const [kept, changed, unchanged] = [
    entry(letter("o.0.1-a"), 1),
    entry(stored, 2, { after: 7, unlessChanged: true }),
    entry(stored, 3, { after: 0, unlessChanged: true }),
  ];
  await first.channel.letters?.append([kept, changed]);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "dropped");
  await first.follower.forgetSettled();
  const oldest = shared.letters[0]?.offset;
  await first.channel.letters?.append([unchanged]);
  await first.letters.keep([letter("l.0.2-a")]);
  await first.letters.mark("k1", ["l.0.2-a"], "dropped");
  await first.follower.forgetSettled();

  assert.equal(oldest, 0);
  assert.equal((shared.letters[0]?.offset ?? 0) > 0, true);
});
