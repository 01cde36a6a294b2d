import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { channelLedger } from "../../core/agent/state/ledger-snapshot.js";
import { Ledger } from "../../core/pipeline/ledger.js";
import { waitingIn } from "../../core/pipeline/ledger-file.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

async function setUp(context: TestContext) {
  const file = path.join(await tempFolder(context), "ledger.json");
  const { log, lines } = recordingLog();
  const open = async (durable: boolean) => {
    const ledger = new Ledger(file, log);
    await ledger.start();
    if (durable) ledger.resume("c");
    return ledger;
  };
  return { file, lines, open };
}

const settled = { stored: 5, "dead-lettered": 2, filtered: 1 };

async function runOnce(open: (durable: boolean) => Promise<Ledger>): Promise<void> {
  const ledger = await open(true);
  const account = ledger.account("c");
  account.open(0);
  account.accepted(10);
  account.sink("s").settled(settled);
  await ledger.stop();
}

const restarts = [
  { says: "goes on where it stood", durable: true, waiting: 2, received: 10, uncounted: 0 },
  { says: "receives what the books had missed", durable: true, waiting: 6, received: 14, uncounted: 0 },
  { says: "calls uncounted what left after the books", durable: true, waiting: 0, received: 10, uncounted: 2 },
  { says: "starts again when it forgets", durable: false, waiting: 0, received: 0, uncounted: 0 },
] as const;

for (const { says, durable, waiting, received, uncounted } of restarts)
  test(`the account of a channel that holds ${waiting} events at the next start ${says}`, async (context) => {
    const { open } = await setUp(context);
    await runOnce(open);

    const account = (await open(durable)).account("c");
    account.open(waiting);

    assert.equal(account.state.received, received);
    assert.equal(account.state.uncounted, uncounted);
    assert.equal(waitingIn(account.state), waiting);
    assert.deepEqual(account.state.sinks.get("s"), durable ? settled : undefined);
  });

test("a channel that holds fewer events than at an orderly stop is reported once; after a kill they may be stored", async (context) => {
  const { open, lines } = await setUp(context);
  await runOnce(open);

  const same = await open(true);
  same.account("c").open(2);
  const fewer = await open(true);
  fewer.account("c").open(0);
  fewer.account("c").open(0);
  await fewer.begin();
  const killed = await open(true);
  killed.account("c").accepted(3);
  killed.account("c").open(1);

  const missing = lines.map(({ level, fields, message }) => [level, message, Reflect.get(fields, "events")]);
  assert.deepEqual(
    [same, fewer, killed].map((ledger) => ledger.account("c").missing),
    [0, 2, 0],
  );
  assert.deepEqual(missing, [["error", "events are missing: the channel holds fewer than at its last stop", 2]]);
});

test("another log than the one that kept the events of a channel is an error once, also at a later start", async (context) => {
  const { open, lines } = await setUp(context);
  const keptIn = async (...logs: readonly string[]) => {
    const ledger = await open(true);
    ledger.account("c").open(undefined);
    for (const log of logs) ledger.keptIn("c", log);
    await ledger.stop();
  };

  await keptIn("one");
  await keptIn();
  await keptIn("one", "two", "two");
  await keptIn("two");

  const told = lines.map(({ level, fields }) => [level, Reflect.get(fields, "before"), Reflect.get(fields, "log")]);
  assert.deepEqual(told, [["error", "one", "two"]]);
});

test("the newest records that a channel has seen are kept until its log is another one, and books without them are read", async (context) => {
  const { open, file } = await setUp(context);
  await runOnce(open);
  const runWith = async (log: string, seen: readonly (readonly [number, number])[] = []) => {
    const ledger = await open(true);
    ledger.account("c").open(undefined);
    const reached = ledger.account("c").reachedIn(log);
    const before = [...reached];
    for (const [part, offset] of seen) reached.set(part, offset);
    await ledger.stop();
    return before;
  };

  const seen = [
    [0, 7],
    [11, 3],
  ] as const;
  const before = [await runWith("one", seen), await runWith("one"), await runWith("two"), await runWith("one")];

  assert.deepEqual(before, [[], seen, [], []]);
  assert.doesNotMatch(await readFile(file, "utf8"), /reached/);
});

test("a channel that has not started yet holds what its books say, and nothing is unaccounted", async (context) => {
  const { open } = await setUp(context);
  await runOnce(open);

  const ledger = await open(true);
  const before = channelLedger("c", { size: 0, isExact: true }, ledger);
  ledger.account("c").open(2);
  const after = channelLedger("c", { size: 2, isExact: true }, ledger);

  assert.deepEqual([before.waiting, before.unaccounted], [2, 0]);
  assert.deepEqual(after, before);
});

const unsure = [
  { says: "that cannot tell its size", size: undefined, waiting: undefined },
  { says: "whose size has the events of other agents, too", size: 70, waiting: 70 },
] as const;
for (const { says, size, waiting } of unsure)
  test(`the books of a channel ${says} go on as they are, and nothing is unaccounted`, async (context) => {
    const { open } = await setUp(context);
    await runOnce(open);

    const ledger = await open(true);
    ledger.account("c").open(undefined);
    ledger.account("c").accepted(3);
    const books = channelLedger("c", { size, isExact: false }, ledger);

    assert.deepEqual([books.waiting, books.unaccounted, "unaccounted" in books], [waiting, undefined, false]);
    assert.equal(waitingIn(ledger.account("c").state), 5);
  });

const losses = [
  { says: "of which the books knew", lost: 2, waiting: 0, received: 10 },
  { says: "which had come after the books", lost: 5, waiting: 1, received: 14 },
] as const;

for (const { says, lost, waiting, received } of losses)
  test(`events ${says} and that the channel lost are lost, not uncounted, over restarts`, async (context) => {
    const { open } = await setUp(context);
    await runOnce(open);
    const ledger = await open(true);
    ledger.account("c").lost(lost);
    ledger.account("c").open(waiting);
    await ledger.stop();

    const account = (await open(true)).account("c");

    const { state } = account;
    assert.deepEqual([state.received, state.lost, state.uncounted], [received, lost, 0]);
    assert.equal(waitingIn(state), waiting);
  });

const damaged = [
  "",
  "{",
  "[]",
  '{"channels":{"c":{"received":-1,"uncounted":0,"sinks":{}}}}',
  '{"channels":{"c":{"received":0,"uncounted":0,"sinks":{},"reached":{"log":"l","parts":{"0":-1}}}}}',
];
for (const text of damaged)
  test(`a ledger file that holds ${JSON.stringify(text)} is reported, kept under another name, and begun anew`, async (context) => {
    const { file, lines, open } = await setUp(context);
    await writeFile(file, text);

    const ledger = await open(true);
    const account = ledger.account("c");
    await ledger.begin();
    await ledger.stop();
    await (await open(true)).stop();

    assert.deepEqual(
      lines.map(({ message }) => message),
      ["ledger cannot be read and starts again"],
    );
    assert.deepEqual(
      lines.map(({ fields }) => Reflect.get(fields, "kept")),
      [`${file}.unreadable`],
    );
    assert.equal(await readFile(`${file}.unreadable`, "utf8"), text);
    assert.equal(account.state.received, 0);
  });

test("a folder in the place of the ledger goes out of its way", async (context) => {
  const { file, lines, open } = await setUp(context);
  await mkdir(file);

  await runOnce(open);
  const { state } = (await open(true)).account("c");

  assert.deepEqual(
    lines.map(({ message }) => message),
    ["ledger cannot be read and starts again"],
  );
  assert.equal(state.received, 10);
});

test("events that are back are no longer lost, as far as the books know them", async (context) => {
  const { open } = await setUp(context);
  await runOnce(open);
  const ledger = await open(true);
  ledger.account("c").lost(2);
  ledger.account("c").open(0);
  await ledger.stop();

  const back = await open(true);
  const account = back.account("c");
  account.lost(-3);
  account.open(3);
  await back.stop();
  const { state } = (await open(true)).account("c");

  assert.deepEqual([state.received, state.lost, state.uncounted, waitingIn(state)], [11, 0, 0, 3]);
});
