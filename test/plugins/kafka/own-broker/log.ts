import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { collect, put } from "../../../../core/testing/channel-fixture.js";
import { KafkaLog } from "../../../../plugins/kafka/log/kafka-log.js";
import { anotherLogChannel, openLogChannel } from "../../../log/opened-channel.js";
import { until } from "../../../support/until.js";
import { logConfig, removeTopics } from "../kafka-engine.js";
import { failureOf, hastyLog, never, ownLog, recordsOf, textsOf } from "../own-log.js";
import { begunTransaction } from "../transactions.js";
import { kafka, skip } from "./broker.js";

/** Between two that are sent: their number is no matter, that they go on is. */
const BREATH_MILLIS = 10;
/** On a busy machine a broker takes a minute to start. */
const RESTART_MILLIS = 240_000;

test("an append waits for a broker that restarts, and its record is there once", { skip }, async (context) => {
  const log = ownLog(context, kafka, { request_timeout: RESTART_MILLIS });
  await log.open(never());
  await log.append(0, Buffer.from("before"));

  await kafka.halt();
  const waiting = log.append(0, Buffer.from("meanwhile"));
  await kafka.resume();
  await waiting;
  await log.append(0, Buffer.from("after"));

  assert.deepEqual(textsOf(await recordsOf(log, 0)), ["before", "meanwhile", "after"]);
});

test("records that the topic has removed before they were stored count as lost, and the rest is delivered", {
  skip,
}, async (context) => {
  const topic = `log-${randomBytes(6).toString("hex")}`;
  const engine = () => {
    return new KafkaLog(logConfig(topic, { bootstrap_servers: [kafka.address], partitions: 1 }), 'channel "c"');
  };
  const before = await openLogChannel({ folder: topic, engine });
  for (const body of [1, 2, 3, 4, 5]) await put(before, body);
  const { transactions } = await collect(before, 2);
  for (const transaction of transactions) await transaction.commit();
  await before.stop(never());
  const retention = engine();
  await retention.open(never());
  await retention.trim(new Map([[0, 4]]));
  await retention.close(never());

  const channel = await anotherLogChannel(before);
  context.after(() => channel.stop(AbortSignal.abort()));
  const { bodies } = await collect(channel, 1);
  await until(
    async () => channel.lost,
    (lost) => lost === 2,
  );

  assert.deepEqual(bodies, [5]);
});

test("marks of a transaction of others, as a copying tool writes them, are no lost records", {
  skip,
}, async (context) => {
  const topic = `log-${randomBytes(6).toString("hex")}`;
  const engine = () => {
    return new KafkaLog(logConfig(topic, { bootstrap_servers: [kafka.address], partitions: 1 }), 'channel "c"');
  };
  const before = await openLogChannel({ folder: topic, engine });
  for (const body of [1, 2, 3, 4]) await put(before, body);
  const { transactions } = await collect(before, 1);
  for (const transaction of transactions) await transaction.commit();
  const others = engine();
  await others.open(never());
  const copied = (await recordsOf(others, 0)).at(-1)?.value ?? new Uint8Array();
  const copying = await begunTransaction(context, [kafka.address]);
  for (const ending of ["", ".letters", ".agents"])
    await copying.write(topic + ending, 0, [{ value: Buffer.from(ending === "" ? copied : "copied") }]);
  await copying.commit();
  // Four records, the copy and the mark, which comes a little later.
  const endOf = async () => (await others.bounds([0])).get(0)?.next;
  await until(endOf, (next) => next === 6);
  await put(before, 5);
  await before.stop(never());
  // Two records are really lost, so that it is known when they are counted.
  await others.trim(new Map([[0, 3]]));
  await others.close(never());

  const channel = await anotherLogChannel(before);
  context.after(() => channel.stop(AbortSignal.abort()));
  const { bodies } = await collect(channel, 2);
  await until(
    async () => channel.lost,
    (lost = 0) => lost >= 2,
  );

  assert.deepEqual(bodies, [4, 5]);
  assert.equal(channel.lost, 2);
});

test("the end of a part that is a mark of a transaction of others is reached", { skip }, async (context) => {
  const log = ownLog(context, kafka, { topic: "ends-with-mark" });
  await log.open(never());
  const others = await begunTransaction(context, [kafka.address]);
  for (const ending of ["", ".letters"])
    await others.write(`ends-with-mark${ending}`, 0, [{ value: Buffer.from("a") }]);
  await others.commit();

  for (const part of [0, "letters"] as const) {
    await until(
      async () => (await log.bounds([part])).get(part)?.next,
      (next) => next === 2,
    );
    const records = await recordsOf(log, part);
    assert.deepEqual(
      records.map(({ offset, mark }) => ({ offset, isMark: mark === true })),
      [
        { offset: 0, isMark: false },
        { offset: 1, isMark: true },
      ],
    );
  }
});

test("an append that is repeated because the broker did not answer stands there once", { skip }, async (context) => {
  const log = ownLog(context, kafka, { request_timeout: 30_000 });
  const hasty = ownLog(context, kafka, { request_timeout: 11_000 });
  await log.open(never());
  await hasty.open(never());
  await log.append(0, Buffer.from("first"));

  await kafka.freeze();
  context.after(() => kafka.thaw());
  const repeated = log.append(0, Buffer.from("repeated"));
  // The first attempt of the other one is over by then.
  const failure = await failureOf(hasty.append(0, Buffer.from("hasty")));
  kafka.thaw();
  await repeated;

  assert.deepEqual([failure.code, failure.retryable], ["LOG_UNAVAILABLE", true]);
  assert.deepEqual(textsOf(await recordsOf(log, 0)), ["first", "repeated"]);
  await hasty.append(0, Buffer.from("next"));
  const kept = textsOf(await recordsOf(hasty, 0));
  assert.equal(kept.at(-1), "next");
  assert.ok(kept.filter((text) => text === "hasty").length <= 1);
});

test("what was appended while brokers were killed again and again is there once, in order, where its append said", {
  skip,
}, async (context) => {
  const log = ownLog(context, kafka, { request_timeout: RESTART_MILLIS });
  await log.open(never());
  const said = new Map<number, string>();
  let isOver = false;
  const appending = [0, 1].map(async (part) => {
    for (let count = 0; !isOver || count < 10; count += 1) {
      const text = `${part} ${count}`;
      const { offset } = await log.append(part, Buffer.from(text));
      if (part === 0) said.set(offset, text);
      await pause(BREATH_MILLIS);
    }
  });

  for (let kills = 0; kills < 2; kills += 1) {
    await kafka.halt();
    await kafka.resume();
    const { next = 0 } = (await log.bounds([0])).get(0) ?? {};
    const read = await log.read(new Map([[0, next]]), { bytes: 1, waitMillis: RESTART_MILLIS }, never());
    assert.equal(read.size, 1, "appends go on");
  }
  isOver = true;
  await Promise.all(appending);

  const records = await recordsOf(log, 0);
  assert.deepEqual(
    records.map(({ offset, value }) => [offset, Buffer.from(value).toString()]),
    [...said],
  );
});

test("a read outlasts a broker that restarts", { skip }, async (context) => {
  const log = ownLog(context, kafka);
  await log.open(never());
  const reading = log.read(new Map([[1, 0]]), { bytes: 1_000_000, waitMillis: RESTART_MILLIS }, never());

  await kafka.halt();
  await kafka.resume();
  await log.append(1, Buffer.from("news"));

  assert.deepEqual(textsOf((await reading).get(1) ?? []), ["news"]);
});

test("without a broker every call fails as one that may be tried again, and says where it was looked for", {
  skip,
}, async (context) => {
  const log = await hastyLog(context, kafka, 3000);
  const closed = ownLog(context, kafka, { request_timeout: 3000 });

  await kafka.halt();
  const failures = [
    await failureOf(log.append(0, Buffer.from("lost"))),
    await failureOf(log.bounds([0, "agents"])),
    await failureOf(log.trim(new Map([[0, 0]]))),
    await failureOf(log.read(new Map([["agents", 0]]), { bytes: 1000, waitMillis: 100 }, never())),
    await failureOf(closed.open(never())),
  ];
  await kafka.resume();

  for (const { code, retryable, message } of failures) {
    assert.deepEqual([code, retryable], ["LOG_UNAVAILABLE", true], message);
    assert.ok(message.includes(kafka.address), message);
  }
  await until(
    () =>
      closed.open(never()).then(
        () => true,
        () => false,
      ),
    Boolean,
  );
});

test("a topic that is made again while it is in use is refused", { skip }, async (context) => {
  const topic = "made-again";
  const log = ownLog(context, kafka, { topic });
  const other = ownLog(context, kafka, { topic });
  const { id } = await log.open(never());
  await log.append(0, Buffer.from("old"));
  await removeTopics(topic, { bootstrap_servers: [kafka.address] });
  const again = await other.open(never());

  const failure = await failureOf(log.read(new Map([[0, 1]]), { bytes: 1000, waitMillis: 10_000 }, never()));
  const refusals = [
    await failureOf(log.append(0, Buffer.from("new"))),
    await failureOf(log.append(1, Buffer.from("new"))),
  ];

  for (const { code, message } of [failure, ...refusals]) {
    assert.equal(code, "LOG_SETTINGS");
    assert.match(message, /removed and made again .*; restart the agents/);
  }
  assert.notEqual(again.id, id);
  assert.deepEqual(await recordsOf(other, 0), []);
});
