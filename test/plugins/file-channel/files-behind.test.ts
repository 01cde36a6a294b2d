import assert from "node:assert/strict";
import { copyFile, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import type { TakeTransaction } from "../../../core/sdk/index.js";
import { drain, never, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { copyOf, dataFolder, openIn } from "./channel-folder.js";

const small = { maxFileSize: 100 };

const checkpointOf = (folder: string) => path.join(folder, "channels", "c1", "checkpoint", "checkpoint");

async function filesOf(folder: string): Promise<readonly string[]> {
  return (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log")).sort();
}

/** Lets go of all events of a take but those with these bodies. */
async function leaveAllBut(transaction: TakeTransaction, kept: (body: number) => boolean): Promise<void> {
  const events = await transaction.take(10_000, never);
  await transaction.leave?.(
    events.filter(({ body }) => !kept(Number(body))),
    "stored",
  );
}

/** A channel in which the first event waits, and those of the files behind it are done. */
async function heldBack(context: TestContext) {
  const root = await tempFolder(context);
  const live = path.join(root, "live");
  const { channel } = await openIn(live, small);
  context.after(() => channel.stop());
  for (const body of [0, 2, 4, 6, 8]) await put(channel, body, body + 1);
  const before = await copyOf(live, path.join(root, "before"));
  const transaction = channel.openTake();
  await leaveAllBut(transaction, (body) => body === 0);
  return { root, live, before, channel, transaction };
}

/** What a start finds, and what it says that is wrong. */
async function found(folder: string) {
  const { channel, lines } = await openIn(folder, small);
  const { lost, size } = channel;
  const bodies = await drain(channel, 100);
  await channel.stop();
  const errors = lines.filter(({ level }) => level === "error").map(({ message }) => message);
  return { bodies, lost, size, errors };
}

const whole = { bodies: [0], lost: 0, size: 1, errors: [] };

test("files of which all events are done are removed while an older event waits, and count no bytes", async (context) => {
  const { live, channel, transaction } = await heldBack(context);
  const files = await filesOf(live);
  const { bytes } = channel;

  await transaction.rollback();
  await put(channel, 10);
  const again = await take(channel, 10);
  await again.transaction.commit();

  assert.deepEqual(files, ["000000000000001.log", "000000000000009.log"]);
  assert.ok(bytes < 400, `${bytes}`);
  assert.deepEqual(again.bodies, [0, 10]);
  assert.equal(channel.size, 0);
});

test("a kill between any two steps of the removal loses nothing, delivers nothing twice and calls nothing lost", async (context) => {
  const { root, live, before } = await heldBack(context);
  const gone = (await filesOf(before)).filter((_, at) => at > 0 && at < 4);
  const after = await copyOf(live, path.join(root, "after"));

  for (const there of [[], ...gone.map((name) => [name]), gone, gone.slice(1)]) {
    const killed = await copyOf(after, path.join(root, "killed"));
    for (const name of there) await copyFile(path.join(dataFolder(before), name), path.join(dataFolder(killed), name));

    assert.deepEqual(await found(killed), whole, `${there}`);
    assert.deepEqual(await found(killed), { ...whole, bodies: [], size: 0 }, `${there}`);
    await rm(killed, { recursive: true });
  }
});

test("a half of the checkpoint that is damaged does not make files missing that were removed behind an event", async (context) => {
  const { root, live } = await heldBack(context);

  for (const half of [0, 1]) {
    const damaged = await copyOf(live, path.join(root, `damaged-${half}`));
    const bytes = await readFile(checkpointOf(damaged));
    await writeFile(checkpointOf(damaged), bytes.fill(1, half * 32_768 + 20, half * 32_768 + 40));

    assert.deepEqual(await found(damaged), whole, `half ${half}`);
  }
});

test("without the checkpoint events of files that were removed behind an event do not count as lost, and an error names them", async (context) => {
  const { root, live, channel } = await heldBack(context);
  await put(channel, 10);
  const copy = await copyOf(live, path.join(root, "copy"));
  await rm(checkpointOf(copy));

  const { channel: again, lines } = await openIn(copy, small);
  context.after(() => again.stop());

  const message =
    "events are missing: stored before the checkpoint was lost, or their file was removed, cut or replaced";
  assert.deepEqual([again.lost, await drain(again, 100)], [0, [0, 1, 10]]);
  assert.deepEqual(
    lines.flatMap(({ level, fields }) => (level === "error" && "from" in fields ? [fields] : [])),
    [{ file: "000000000000003.log", from: 3, to: 10, events: 8 }],
  );
  assert.ok(lines.some((line) => line.message === message));
});

test("a removed file that is put back is not delivered, and goes again", async (context) => {
  const { root, live, before } = await heldBack(context);
  const killed = await copyOf(live, path.join(root, "killed"));
  await (await openIn(killed, small)).channel.stop();
  const [, name = ""] = await filesOf(before);
  await copyFile(path.join(dataFolder(before), name), path.join(dataFolder(killed), name));

  const { channel } = await openIn(killed, small);
  context.after(() => channel.stop());

  assert.equal(channel.size, 1);
  assert.ok(!(await filesOf(killed)).includes(name));
});

test("where more stretches are done than the checkpoint can name, those whose files were removed are among them", async (context) => {
  const root = await tempFolder(context);
  const live = path.join(root, "live");
  const { channel } = await openIn(live, { maxFileSize: 20_000, transactionCapacity: 10_000 });
  context.after(() => channel.stop());
  const transaction = channel.openTake();
  // Two files of which every other event waits, two of which none does, and the newest.
  for (let from = 0; from < 3000; from += 500) await put(channel, ...upTo(from + 500).slice(from));
  const isKept = (body: number) => body % 2 === 0 && (body < 900 || body >= 2000);
  const files = await filesOf(live);

  await leaveAllBut(transaction, isKept);
  const left = await filesOf(live);
  const killed = await copyOf(live, path.join(root, "killed"));
  const { bodies, lost, errors } = await found(killed);

  assert.ok(left.length < files.length, `${files} ${left}`);
  assert.deepEqual({ lost, errors }, { lost: 0, errors: [] });
  assert.deepEqual(
    upTo(3000).filter((body) => isKept(body) && !bodies.includes(body)),
    [],
  );
  assert.deepEqual(bodies, [...new Set(bodies)]);
});
