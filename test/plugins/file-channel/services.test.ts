import assert from "node:assert/strict";
import { readdir, unlink } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { codeOf, type Event } from "../../../core/sdk/index.js";
import { seeded } from "../../crash/seeded.js";
import { tempFolder } from "../../support/temp-folder.js";
import { copyOf, dataFolder, openIn } from "./channel-folder.js";
import { ServiceModel } from "./service-model.js";

const now = AbortSignal.abort();
/** When takers wait for what one of them will never give back, they end. */
const MOST_TAKES = 1_000_000;
const of = (service: string, body: unknown): Event => ({ headers: { "fiware-service": service }, body });
const bodiesOf = (events: readonly Event[]) => events.map(({ body }) => body);

const ways = [
  { title: "in turn, half for one service", fair_taking: true, service_percentage: 50, memoryCapacity: 0 },
  { title: "in order, half for one service", fair_taking: false, service_percentage: 50, memoryCapacity: 0 },
  { title: "in turn, no limit", fair_taking: true, service_percentage: 100, memoryCapacity: 0 },
  { title: "in turn, some in memory", fair_taking: true, service_percentage: 60, memoryCapacity: 20 },
] as const;
const seeds = [1, 2, 3, 4, 5, 6];

for (const { title, ...sharing } of ways)
  for (const seed of seeds)
    test(`${title}: whatever is put, taken, rolled back and restarted, nothing is lost, doubled or miscounted (seed ${seed})`, async (context) => {
      const random = seeded(seed);
      const upTo = (most: number) => Math.floor(random() * most);
      const folder = await tempFolder(context);
      const limits = { capacity: 200, transactionCapacity: 50, maxFileSize: 2000, ...sharing };
      const model = await ServiceModel.open(folder, limits);

      for (let step = 0; step < 250; step += 1) {
        await takeStep(model, upTo, sharing.memoryCapacity === 0);
        model.check();
      }
      while (model.openTakes > 0) await model.end(0, "roll back");
      while (model.stored.length < model.accepted) {
        await model.take(50);
        await model.end(0, "commit");
      }
      model.check();
      await model.stop();

      assert.equal(new Set(model.stored).size, model.accepted, "each event was stored");
      assert.equal(model.stored.length, model.accepted, "and none twice");
    });

/** `crashes`: what is in memory alone would be lost with the process. */
async function takeStep(model: ServiceModel, upTo: (most: number) => number, crashes: boolean): Promise<void> {
  const dice = upTo(100);
  const putting = (["roll back", "reserve", "commit", "commit"] as const)[upTo(4)] ?? "commit";
  if (dice < 45) await model.put(`s${Math.floor(upTo(36) ** 0.5)}`, 1 + upTo(12), putting);
  else if (dice < 70) await (model.openTakes < 4 ? model.take(1 + upTo(40)) : model.end(upTo(4), "commit"));
  else if (dice < 95) await model.end(upTo(4), upTo(3) === 0 ? "roll back" : "commit");
  else if (dice < 97 || !crashes) await model.restart();
  else await model.crash(upTo(2) === 0);
}

test("the event of one service is in the next take, behind 100,000 of another one, also after a restart", async (context) => {
  const folder = await tempFolder(context);
  const config = { fair_taking: true, transactionCapacity: 1000, maxFileSize: 4_000_000 };
  const { channel } = await openIn(folder, config);
  for (let from = 0; from < 100_000; from += 1000) {
    const put = channel.openPut();
    for (let at = from; at < from + 1000; at += 1) put.put(of("flood", at));
    await put.commit();
  }
  const put = channel.openPut();
  put.put(of("other", "single"));
  await put.commit();

  const take = channel.openTake();
  const events = await take.take(1000, now);
  assert.ok(bodiesOf(events).includes("single"));
  assert.equal(events.length, 1000);
  await take.rollback();
  await channel.stop();

  const again = (await openIn(folder, config)).channel;
  const second = again.openTake();
  const taken = await second.take(1000, now);
  assert.ok(bodiesOf(taken).includes("single"));
  assert.deepEqual(
    again.largestServices(5)?.map(({ service, events: held }) => [service, held]),
    [
      ["flood", 100_000],
      ["other", 1],
    ],
  );
  await second.commit();
  assert.equal(again.size, 99_001);
  await again.stop();
});

test("however mixed the services are, a position names all that is done, so that a crash doubles nothing", async (context) => {
  const folder = await tempFolder(context);
  const config = { fair_taking: true, transactionCapacity: 1000, maxFileSize: 1_000_000 };
  const { channel } = await openIn(folder, config);
  const services = (at: number) => (at % 10 === 0 ? `small${at % 7}` : "flood");
  for (let from = 0; from < 20_000; from += 1000) {
    const put = channel.openPut();
    for (let at = from; at < from + 1000; at += 1) put.put(of(services(at), at));
    await put.commit();
  }
  const stored = new Set<unknown>();
  let position = "";
  let most = 0;
  for (let round = 0; round < 12; round += 1) {
    const take = channel.openTake();
    const events = await take.take(1000, now);
    position = take.positions?.after(events.length) ?? "";
    most = Math.max(most, position.split(",").length);
    for (const { body } of events) stored.add(body);
    // The process ends before the last commit.
    if (round < 11) await take.commit();
  }
  const copy = await copyOf(folder, await tempFolder(context));
  await channel.stop();

  const again = (await openIn(copy, config)).channel;
  await again.skipTo(position);
  assert.equal(again.size, 20_000 - stored.size);
  while (again.size > 0) {
    const take = again.openTake();
    for (const { body } of await take.take(1000, now)) {
      assert.ok(!stored.has(body), `event ${body} came twice`);
      stored.add(body);
    }
    await take.commit();
  }
  await again.stop();

  assert.equal(stored.size, 20_000);
  assert.ok(most > 100 && most <= 500, `a position named ${most} stretches`);
});

test("a take gets what waits on disk while another take reads", async (context) => {
  const folder = await tempFolder(context);
  const config = { fair_taking: true, transactionCapacity: 100 };
  const before = (await openIn(folder, config)).channel;
  const put = before.openPut();
  for (let at = 0; at < 100; at += 1) put.put(of("s", at));
  await put.commit();
  await before.stop();
  const { channel } = await openIn(folder, config);
  const rolledBack = channel.openTake();
  await rolledBack.take(60, now);
  await rolledBack.rollback();
  const [one, other] = [channel.openTake(), channel.openTake()];

  const taken = await Promise.all([one.take(90, now), other.take(10, now)]);

  assert.deepEqual(
    taken.map(({ length }) => length),
    [90, 10],
  );
  await Promise.all([one.commit(), other.commit()]);
  await channel.stop();
});

test("events that are read back from disk are the same objects after a rollback, and several takers get each once", async (context) => {
  const folder = await tempFolder(context);
  const config = { fair_taking: true, transactionCapacity: 100, maxFileSize: 65_536 };
  const before = (await openIn(folder, config)).channel;
  for (let from = 0; from < 2000; from += 100) {
    const put = before.openPut();
    for (let at = from; at < from + 100; at += 1) put.put(of(`s${at % 3}`, at));
    await put.commit();
  }
  await before.stop();
  const { channel } = await openIn(folder, config);

  const take = channel.openTake();
  const first = await take.take(100, now);
  await take.rollback();
  const again = channel.openTake();
  const second = new Set(await again.take(100, now));
  assert.ok(
    first.filter((event) => second.has(event)).length >= 98,
    "what is known of an event is known by its object",
  );
  await again.rollback();

  const seen: unknown[] = [];
  let takes = 0;
  const takers = [30, 70, 100, 7].map(async (max) => {
    while (seen.length < 2000 && takes < MOST_TAKES) {
      const transaction = channel.openTake();
      const events = await transaction.take(max, now);
      takes += 1;
      // Nothing is there while the others hold the rest.
      if (events.length === 0) await nextTurn();
      // Not without end: four takers in step would roll the same events back again and again.
      if (takes < 200 && takes % 4 === 0) await transaction.rollback();
      else {
        seen.push(...bodiesOf(events));
        await transaction.commit();
      }
    }
  });
  await Promise.all(takers);
  await channel.stop();

  assert.equal(seen.length, 2000);
  assert.equal(new Set(seen).size, 2000);
});

test("a notification of a service over its part is refused with code CHANNEL_SHARE_FULL, and others are put", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { capacity: 10, service_percentage: 50, "keep-alive": 60 });
  const putOf = async (service: string, count: number) => {
    const put = channel.openPut(count);
    for (let at = 0; at < count; at += 1) put.put(of(service, at));
    await put.commit();
  };
  await putOf("flood", 5);

  await assert.rejects(putOf("flood", 1), (error) => codeOf(error) === "CHANNEL_SHARE_FULL");
  await assert.rejects(putOf("FLOOD", 1), (error) => codeOf(error) === "CHANNEL_SHARE_FULL");
  await putOf("other", 2);

  assert.equal(channel.size, 7);
  await channel.stop();
});

test("a put that the disk refuses does not count for its service", async (context) => {
  const folder = await tempFolder(context);
  let isBroken = false;
  const { openNewFile } = await import("../../../plugins/file-channel/log/files.js");
  const { channel } = await openIn(folder, { capacity: 10, service_percentage: 50 }, async (file) => {
    const opened = await openNewFile(file);
    const write = (...given: Parameters<typeof opened.write>) =>
      isBroken ? Promise.reject(new Error("ENOSPC")) : opened.write(...given);
    return { ...opened, write };
  });
  const putOne = async () => {
    const put = channel.openPut();
    put.put(of("a", 1));
    await put.commit();
  };
  await putOne();
  isBroken = true;
  for (let attempt = 0; attempt < 20; attempt += 1) await assert.rejects(putOne());
  isBroken = false;
  await putOne();

  assert.deepEqual(
    channel.largestServices(5)?.map(({ events }) => events),
    [2],
  );
  assert.equal(channel.size, 2);
  await channel.stop();
});

test("events of a file that was removed are lost and do not count for their service any more", async (context) => {
  const folder = await tempFolder(context);
  const { channel, lines } = await openIn(folder, { fair_taking: true, maxFileSize: 65_536 });
  const text = "x".repeat(60_000);
  for (let at = 0; at < 300; at += 1) {
    const put = channel.openPut();
    put.put(of(at % 2 === 0 ? "a" : "b", `${at}${text}`));
    await put.commit();
  }
  const names = (await readdir(dataFolder(folder))).sort();
  const last = names[names.length - 3] ?? "";
  await unlink(path.join(dataFolder(folder), last));

  const seen: unknown[] = [];
  while (channel.size > 0) {
    const take = channel.openTake();
    seen.push(...(await take.take(50, now)));
    await take.commit();
  }
  await channel.stop();

  assert.ok(channel.lost > 0);
  assert.equal(seen.length + channel.lost, 300);
  assert.deepEqual(channel.largestServices(5), []);
  assert.ok(lines.some(({ message }) => message === "damaged events left out"));
});
