import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { KafkaLogConfig } from "../../../../plugins/kafka/config.js";
import type { KafkaLog } from "../../../../plugins/kafka/log/kafka-log.js";
import { assertKept, goOn, type Writing, writing } from "../../../log/writing.js";
import { freePort } from "../../../support/free-port.js";
import type { OwnKafka } from "../../../support/own-kafka.js";
import { until } from "../../../support/until.js";
import { failureOf, never, ownLog, recordsOf, textsOf } from "../own-log.js";
import { cluster, skip } from "./brokers.js";

const PATIENCE_MILLIS = 240_000;

/** A log that every broker leads a partition of. */
function logOf(context: TestContext, changes: Partial<KafkaLogConfig>): KafkaLog {
  return ownLog(context, { address: "" }, { bootstrap_servers: [...cluster.bootstrap], partitions: 3, ...changes });
}

test("the topics of a log wait for a broker that was never there, and each gets three replicas of which two must have an event", {
  skip,
}, async (context) => {
  const topic = "made";
  const hasty = { topic, request_timeout: 8000 } as const;
  const missing = await failureOf(logOf(context, hasty).open(never()));
  const wanted = await failureOf(logOf(context, { ...hasty, replication_factor: 3 }).open(never()));
  await cluster.complete();
  await cluster.whole();
  const { warnings } = await logOf(context, { topic }).open(never());

  for (const { code, retryable, message } of [missing, wanted]) {
    assert.deepEqual([code, retryable], ["LOG_UNAVAILABLE", true], message);
    assert.match(message, /replication_factor/);
  }
  assert.match(missing.message, /of 3 bootstrap_servers 2 are there; start the others/);
  assert.deepEqual(warnings, []);
  const made = { replicas: 3, "min.insync.replicas": "2" };
  assert.deepEqual(await cluster.topics([topic, `${topic}.agents`, `${topic}.letters`]), [made, made, made]);
});

const troubles: readonly {
  readonly what: string;
  readonly begin: (broker: OwnKafka) => Promise<void>;
  readonly end: (broker: OwnKafka) => unknown;
}[] = [
  { what: "killed", begin: ({ halt }) => halt(), end: ({ resume }) => resume() },
  { what: "frozen", begin: ({ freeze }) => freeze(), end: ({ thaw }) => thaw() },
];

for (const { what, begin, end } of troubles)
  test(`puts and reads go on while the leader of their partition is ${what}, and no read fails`, {
    skip,
  }, async (context) => {
    const topic = `leader-${what}`;
    const [one, other] = [logOf(context, { topic }), logOf(context, { topic, request_timeout: 60_000 })];
    await one.open(never());
    await other.open(never());
    const writers = [writing(one, 0, "one"), writing(other, 0, "other"), writing(other, 1, ""), writing(one, 2, "")];
    const readings = [readingOf(one, [0, 1, 2]), readingOf(other, [0])];
    await goOn(writers);

    const leader = await cluster.leader(topic, 0);
    await begin(leader);
    await goOn(writers);
    for (const reading of readings) await reading.reaches(writers);
    await end(leader);
    await goOn(writers);
    await cluster.whole();
    await goOn(writers);
    for (const writer of writers) await writer.stop();

    for (const reading of readings) assert.deepEqual(await reading.stop(), []);
    await assertKept(other, writers);
  });

test("a read that is ended again and again finds where the partition of a frozen broker is", {
  skip,
}, async (context) => {
  const topic = "ended";
  const [log, other] = [logOf(context, { topic }), logOf(context, { topic })];
  await log.open(never());
  await other.open(never());
  await log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 10 }, never());
  const leader = await cluster.leader(topic, 0);
  await leader.freeze();
  context.after(() => leader.thaw());
  const appended = other.append(0, Buffer.from("meanwhile"));

  const read = await until(
    () => log.read(new Map([[0, 0]]), { bytes: 1000, waitMillis: 500 }, AbortSignal.timeout(300)),
    (found) => found.size > 0,
    PATIENCE_MILLIS,
  );

  await appended;
  assert.deepEqual(textsOf(read.get(0) ?? []), ["meanwhile"]);
  leader.thaw();
  await cluster.whole();
});

test("a log is opened and used while one bootstrap server is down and another one frozen", {
  skip,
}, async (context) => {
  const [frozen, ...others] = cluster.brokers;
  assert.ok(frozen !== undefined);
  const down = `127.0.0.1:${await freePort("127.0.0.1")}`;
  const bootstrap_servers = [down, frozen.address, ...others.map(({ address }) => address)];
  await logOf(context, { topic: "bootstrap" }).open(never());
  const log = logOf(context, { topic: "bootstrap", bootstrap_servers, request_timeout: 45_000 });
  await frozen.freeze();
  context.after(() => frozen.thaw());

  await log.open(never());
  const offsets = await Promise.all([0, 1, 2].map((part) => log.append(part, Buffer.from("kept"))));

  assert.deepEqual(
    offsets.map(({ offset }) => offset),
    [0, 0, 0],
  );
  frozen.thaw();
  await cluster.whole();
});

test("puts wait while fewer replicas are in sync than they need, fail with the reason, and go on when brokers are back", {
  skip,
}, async (context) => {
  const [two, three] = [
    // A broker answers after four fifths of the time of an attempt, a third of this.
    logOf(context, { topic: "two", request_timeout: 24_000 }),
    logOf(context, { topic: "three", min_insync_replicas: 3, request_timeout: 240_000 }),
  ];
  const hasty = logOf(context, { topic: "three", request_timeout: 8000 });
  const long = logOf(context, { topic: "two", request_timeout: 240_000 });
  for (const log of [two, three, hasty, long]) await log.open(never());
  const leader = await cluster.leader("two", 0);
  const part = await until(
    async () => await cluster.partsOf("three", leader),
    (parts) => parts.length > 0,
  ).then(([first = 0]) => first);
  const [first, second] = cluster.brokers.filter(({ node }) => node !== leader.node);
  assert.ok(first !== undefined && second !== undefined);
  await two.append(0, Buffer.from("before"));
  await three.append(part, Buffer.from("before"));

  await first.halt();
  // From then on the first one is not in sync.
  await long.append(0, Buffer.from("with two"));
  const lacking = await failureOf(hasty.append(part, Buffer.from("refused")));
  await second.halt();
  const alone = await failureOf(two.append(0, Buffer.from("refused")));
  const waiting = [long.append(0, Buffer.from("waited")), three.append(part, Buffer.from("waited"))];
  await second.resume();
  await waiting[0];
  await first.resume();
  await waiting[1];
  await cluster.whole();

  for (const { code, retryable, message } of [lacking, alone])
    assert.deepEqual([code, retryable], ["LOG_UNAVAILABLE", true], message);
  assert.match(lacking.message, /NOT_ENOUGH_REPLICAS, fewer replicas are in sync than min\.insync\.replicas/);
  assert.match(alone.message, /REQUEST_TIMED_OUT, other brokers have not confirmed it in time/);
  // What was refused may be there, once.
  const kept = async (log: KafkaLog, of: number) =>
    textsOf(await recordsOf(log, of)).filter((text, at, all) => text !== "refused" || all.indexOf(text) !== at);
  assert.deepEqual(await kept(two, 0), ["before", "with two", "waited"]);
  assert.deepEqual(await kept(three, part), ["before", "waited"]);
});

/** Reads parts until it is stopped, which returns why reads failed. */
function readingOf(log: KafkaLog, parts: readonly number[]) {
  const next = new Map(parts.map((part) => [part, 0]));
  const failures: string[] = [];
  const end = new AbortController();
  const running = (async () => {
    while (!end.signal.aborted) {
      try {
        const found = await log.read(next, { bytes: 1_000_000, waitMillis: 500 }, end.signal);
        for (const [part, records] of found)
          if (typeof part === "number") next.set(part, (records.at(-1)?.offset ?? 0) + 1);
      } catch (error) {
        failures.push(String(error));
      }
    }
  })();
  return {
    /** Resolves when all that they have written by now was read. */
    reaches: async (writers: readonly Writing[]) => {
      const last = writers.map(({ part, wrote }) => [part, wrote.at(-1)?.offset ?? 0] as const);
      await until(
        async () => [...next],
        () => last.every(([part, offset]) => (next.get(part) ?? Number.POSITIVE_INFINITY) > offset),
        PATIENCE_MILLIS,
      );
    },
    stop: async (): Promise<readonly string[]> => {
      end.abort();
      await running;
      return failures;
    },
  };
}
