import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { Stats } from "node:fs";
import { open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import type { Channel } from "../../../core/sdk/index.js";
import { never, upTo } from "../../../core/testing/channel-fixture.js";
import { copyOfLive } from "../../../core/testing/copied-folder.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { copyOf, dataFolder, openIn } from "./channel-folder.js";

/** Files of 128 KiB, with one put of some sixty events each, of which the first waits. */
const limits = { byteCapacity: 1_048_576, maxFileSize: 131_072, "keep-alive": 600 };
const EVENTS_OF_A_PUT = 64;
const isHeld = (id: number) => id % EVENTS_OF_A_PUT === 0;

async function putFrom(channel: Channel, from: number): Promise<void> {
  const transaction = channel.openPut(EVENTS_OF_A_PUT);
  for (const id of upTo(from + EVENTS_OF_A_PUT).slice(from))
    transaction.put({
      headers: { "fiware-service": isHeld(id) ? "bad" : "good" },
      body: { id, rest: "x".repeat(2048) },
    });
  await transaction.commit();
}

const idOf = (body: unknown) => Number(Reflect.get(Object(body), "id"));

async function left(folder: string, config = {}) {
  const { channel, lines } = await openIn(folder, { ...limits, ...config });
  const { lost, size } = channel;
  const ids: number[] = [];
  while (channel.size > 0) {
    const transaction = channel.openTake();
    ids.push(...(await transaction.take(1000, never)).map(({ body }) => idOf(body)));
    await transaction.commit();
  }
  await channel.stop();
  const errors = lines.filter(({ level }) => level === "error").map(({ message }) => message);
  return { ids: ids.sort((one, other) => one - other), lost, size, errors };
}

/** Resolves when the files take so little that none is made smaller any more. */
async function madeSmaller(
  channel: Channel,
  { byteCapacity }: { readonly byteCapacity: number } = limits,
): Promise<void> {
  await until(
    async () => channel.bytes ?? 0,
    (bytes) => bytes <= byteCapacity / 2,
  );
}

/** A channel that handed out many times what its files may take; one event of each file waits. */
async function scattered(context: TestContext, config = {}, meanwhile = async (_live: string, _from: number) => {}) {
  const root = await tempFolder(context);
  const live = path.join(root, "live");
  const { channel, lines } = await openIn(live, { ...limits, ...config });
  context.after(() => channel.stop());
  const held: number[] = [];
  const taking = [];
  for (let from = 0; from < 20 * EVENTS_OF_A_PUT; from += EVENTS_OF_A_PUT) {
    await putFrom(channel, from);
    const transaction = channel.openTake();
    const events = await transaction.take(EVENTS_OF_A_PUT, never);
    await transaction.leave?.(
      events.filter(({ body }) => !isHeld(idOf(body))),
      "stored",
    );
    held.push(from);
    taking.push(transaction);
    await meanwhile(live, from);
  }
  return { root, live, channel, lines, held, taking };
}

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = await readdir(dataFolder(folder));
  return names.filter((name) => !name.includes("lock")).sort();
}

const services = [{}, { fair_taking: true }] as const;

for (const config of services) {
  const what = "fair_taking" in config ? ", with fair_taking" : "";

  test(`an event that waits in each of many files does not fill the channel${what}`, async (context) => {
    const { live, channel, held, taking, root } = await scattered(context, config);
    await madeSmaller(channel);

    const sizes = await Promise.all(
      (await filesOf(live)).map(async (name) => (await stat(path.join(dataFolder(live), name))).blocks * 512),
    );
    const onDisk = sizes.reduce((sum, bytes) => sum + bytes, 0);
    const killed = await left(await copyOf(live, path.join(root, "killed")), config);
    for (const transaction of taking) await transaction.rollback();
    await channel.stop();
    const stopped = await left(live, config);

    // The newest file may be counted by what is in it.
    assert.ok(
      channel.bytes <= limits.byteCapacity && Math.abs(onDisk - channel.bytes) < 131_072,
      `${onDisk} ${channel.bytes}`,
    );
    assert.deepEqual(killed, { ids: held, lost: 0, size: 20, errors: [] });
    assert.deepEqual(stopped, { ids: held, lost: 0, size: 20, errors: [] });
  });

  test(`events that wait in files which were made smaller meanwhile are taken${what}`, async (context) => {
    const { channel, held, taking, lines } = await scattered(context, config);
    for (const transaction of taking) await transaction.rollback();

    const transaction = channel.openTake();
    const ids = (await transaction.take(1000, never)).map(({ body }) => idOf(body));
    await transaction.commit();

    assert.ok(lines.some(({ message }) => message === "stored events were taken out of a file"));
    assert.deepEqual([ids, channel.size, channel.lost], [held, 0, 0]);
  });
}

/** A channel whose first file is being made smaller, until somebody reads what is to take its place. */
async function withFirstInWork(context: TestContext) {
  const config = { byteCapacity: 4_194_304 };
  const pipeIn = (live: string) => path.join(dataFolder(live), "000000000000001.log.compacted");
  const makePipe = async (live: string, from: number) => {
    if (from === 0) execFileSync("mkfifo", [pipeIn(live)]);
  };
  const scene = await scattered(context, config, makePipe);
  const goOn = async () => {
    const reader = await open(pipeIn(scene.live), "r");
    await madeSmaller(scene.channel, config);
    await reader.close();
  };
  return { ...scene, config, goOn };
}

test("takes, puts and the checkpoint do not wait for a file that is being made smaller", async (context) => {
  const { root, live, held, lines, config, goOn } = await withFirstInWork(context);

  const killed = path.join(root, "killed");
  await copyOfLive(live, killed, (file) => !/\.(lock|compacted)$/.test(file));
  await goOn();

  const inWork = lines.find(
    ({ message }) => message === "a file most of whose events are stored cannot be made smaller",
  );
  assert.match(JSON.stringify(inWork?.fields), /ESPIPE/);
  assert.deepEqual(await left(killed, config), { ids: held, lost: 0, size: 20, errors: [] });
});

test("a file whose last event is stored while it is being made smaller goes afterwards: it would come back if it went before", async (context) => {
  const { live, taking, goOn } = await withFirstInWork(context);
  const [first] = taking;
  const isThere = async () => (await filesOf(live)).includes("000000000000001.log");

  await first?.commit();
  const meanwhile = await isThere();
  await goOn();
  await until(isThere, (there) => !there);

  assert.ok(meanwhile);
});

const fileSystems = [
  { what: "has no holes", blocks: (size: number) => Math.ceil(size / 512) },
  { what: "does not say what a file takes", blocks: () => 0 },
] as const;

for (const { what, blocks } of fileSystems)
  test(`where the file system ${what} files count as a whole, and keep their events`, async (context) => {
    const config = { byteCapacity: 4_194_304 };
    const tried = await withBlocks(context, blocks);

    const { live, channel, held, lines } = await scattered(context, config);
    await until(
      async () => tried(),
      (times) => times > 0,
    );
    const { bytes } = channel;
    await channel.stop();
    const sizes = await Promise.all(
      (await filesOf(live)).map(async (name) => (await stat(path.join(dataFolder(live), name))).size),
    );
    const onDisk = sizes.reduce((sum, size) => sum + size, 0);

    assert.ok(Math.abs(bytes - onDisk) < 4096, `${bytes} ${onDisk}`);
    assert.ok(!lines.some(({ message }) => message === "stored events were taken out of a file"));
    assert.deepEqual(await left(live, config), { ids: held, lost: 0, size: 20, errors: [] });
  });

/** Open files say that they take other blocks, until the test ends; how often they were asked. */
async function withBlocks(context: TestContext, blocks: (size: number) => number): Promise<() => number> {
  const handle = await open(process.execPath);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { stat: real } = prototype;
  let asked = 0;
  prototype.stat = async function (...options: unknown[]) {
    const found: Stats = await Reflect.apply(real, this, options);
    asked += 1;
    return Object.assign(found, { blocks: blocks(found.size) });
  };
  context.after(() => {
    prototype.stat = real;
  });
  return () => asked;
}

test("a file from which events were taken out has version 3 of the format, which earlier agents refuse, and others have version 2", async (context) => {
  const { live, channel } = await scattered(context);
  await madeSmaller(channel);

  const versions = await Promise.all(
    (await filesOf(live)).map(async (name) => (await readFile(path.join(dataFolder(live), name))).readUInt32LE(8)),
  );

  assert.deepEqual([versions.at(0), versions.at(-1)], [3, 2]);
});

test("a file that is not there does not keep others from becoming smaller", async (context) => {
  const removeFirst = async (live: string, from: number) => {
    const [first = ""] = await filesOf(live);
    if (from === EVENTS_OF_A_PUT) await rm(path.join(dataFolder(live), first));
  };
  const { channel, lines } = await scattered(context, {}, removeFirst);
  // That file counts as a whole.
  await madeSmaller(channel, { byteCapacity: limits.byteCapacity + 2 * limits.maxFileSize });

  const message = "a file most of whose events are stored cannot be made smaller";
  assert.equal(lines.filter((line) => line.message === message).length, 1);
});

test("a channel whose holes a copy has filled makes room for puts, although all that is left in it waits", async (context) => {
  const { live, root } = await scattered(context);
  const copy = await copyOf(live, path.join(root, "copy"));
  for (const name of await filesOf(copy)) {
    const file = path.join(dataFolder(copy), name);
    await writeFile(file, await readFile(file));
  }

  const { channel } = await openIn(copy, limits);
  context.after(() => channel.stop());
  await putFrom(channel, 20 * EVENTS_OF_A_PUT);

  assert.ok(channel.bytes < limits.byteCapacity, `${channel.bytes}`);
});

test("a channel that is opened with a smaller byteCapacity makes room for puts, although all that is left in it waits", async (context) => {
  const { live, root } = await scattered(context, { byteCapacity: 16_777_216 });
  const copy = await copyOf(live, path.join(root, "copy"));

  const { channel } = await openIn(copy, limits);
  context.after(() => channel.stop());
  await putFrom(channel, 20 * EVENTS_OF_A_PUT);

  assert.ok(channel.bytes < limits.byteCapacity, `${channel.bytes}`);
});

test("without its checkpoint a channel delivers what is in smaller files, and calls nothing of them damaged", async (context) => {
  const { live, root, held } = await scattered(context);
  const copy = await copyOf(live, path.join(root, "copy"));
  await rm(path.join(copy, "channels", "c1", "checkpoint", "checkpoint"));

  const { ids, lost, errors } = await left(copy);

  assert.deepEqual([lost, errors], [0, ["checkpoint lost: everything in the segments is delivered again"]]);
  assert.deepEqual(
    held.filter((id) => !ids.includes(id)),
    [],
  );
});

test("of a smaller file an event that waits and is damaged is lost, and reported", async (context) => {
  const { live, root, held } = await scattered(context);
  const copy = await copyOf(live, path.join(root, "copy"));
  const [, name = ""] = await filesOf(copy);
  const file = path.join(dataFolder(copy), name);
  const bytes = await readFile(file);
  await writeFile(file, bytes.fill(1, 1000, 1010));

  const { ids, errors } = await left(copy);

  assert.deepEqual([ids, errors], [held.filter((_, at) => at !== 1), ["damaged events left out"]]);
});

test("what a kill left of a smaller file is removed by the next start", async (context) => {
  const { live, root, held } = await scattered(context);
  const copy = await copyOf(live, path.join(root, "copy"));
  const [name = ""] = await filesOf(copy);
  await writeFile(path.join(dataFolder(copy), `${name}.compacted`), "a part");

  const { ids, errors } = await left(copy);

  assert.deepEqual([ids, errors], [held, []]);
  assert.deepEqual(
    (await filesOf(copy)).filter((one) => one.endsWith(".compacted")),
    [],
  );
});

test("more events that wait apart than the checkpoint can name gaps between are there after a kill, and nothing counts as lost", async (context) => {
  const root = await tempFolder(context);
  const live = path.join(root, "live");
  const config = { ...limits, byteCapacity: 8_388_608, maxFileSize: 1_048_576, transactionCapacity: 10_000 };
  const { channel, lines } = await openIn(live, config);
  context.after(() => channel.stop());
  const isApart = (id: number) => id % 10 === 0;
  for (let from = 0; from < 12_000; from += 500) {
    const transaction = channel.openPut();
    for (const id of upTo(from + 500).slice(from))
      transaction.put({ headers: {}, body: { id, rest: "x".repeat(1200) } });
    await transaction.commit();
    const taking = channel.openTake();
    const events = await taking.take(500, never);
    await taking.leave?.(
      events.filter(({ body }) => !isApart(idOf(body))),
      "stored",
    );
  }

  const { ids, lost, errors } = await left(await copyOf(live, path.join(root, "killed")), config);

  assert.ok(lines.filter(({ message }) => message === "stored events were taken out of a file").length > 1);
  assert.deepEqual([lost, errors], [0, []]);
  assert.deepEqual(ids, [...new Set(ids)]);
  assert.equal(ids.filter(isApart).length, 1200);
  // Those of the newest files are in no list.
  assert.ok(ids.length < 6000, `${ids.length}`);
});
