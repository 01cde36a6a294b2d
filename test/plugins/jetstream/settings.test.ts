import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { readAll, rejects, texts } from "../../../core/testing/log/log-case.js";
import { settingFaults, warningsOf } from "../../../plugins/jetstream/log/settings.js";
import { subjectsOf } from "../../../plugins/jetstream/log/subjects.js";
import { until } from "../../support/until.js";
import { administer, removeStream } from "./administration.js";
import { configOf, logOf, nameOfStream, never, ownNats, sharedLog, sharedNats } from "./nats.js";

const NANOS = 1_000_000_000;

function settingsOf(stream: string): Readonly<Record<string, unknown>> {
  return {
    name: stream,
    description: "made by hand, partitions=2",
    subjects: [`${stream}.p.*`, `${stream}.agents`, `${stream}.letters`],
    retention: "limits",
    storage: "file",
    discard: "new",
    num_replicas: 1,
    max_age: 0,
    max_msgs_per_subject: -1,
    duplicate_window: 120 * NANOS,
    allow_direct: true,
  };
}

const wrong: readonly { readonly change: Readonly<Record<string, unknown>>; readonly says: RegExp }[] = [
  { change: { description: "by hand" }, says: /does not say how many partitions it has; nats stream edit \S+ --desc/ },
  { change: { description: "partitions=3" }, says: /has 3 partitions and the property "partitions" says 2; set/ },
  { change: { subjects: ["%.>"] }, says: /its subjects are "\S+\.>"; nats stream edit/ },
  { change: { retention: "workqueue" }, says: /its retention is "workqueue"; it cannot be changed/ },
  { change: { storage: "memory" }, says: /its storage is "memory"; it cannot be changed/ },
  { change: { discard: "old" }, says: /a full stream removes its oldest events.*; nats stream edit \S+ --discard new/ },
  { change: { max_age: 60 * NANOS, duplicate_window: 60 * NANOS }, says: /not stored yet after 60 seconds; nats/ },
  { change: { max_msgs_per_subject: 5 }, says: /keeps 5 messages of a subject only/ },
  { change: { allow_direct: false }, says: /direct reads are off/ },
  { change: { deny_purge: true }, says: /cannot be removed/ },
  { change: { no_ack: true }, says: /acknowledges nothing/ },
  {
    change: { duplicate_window: NANOS },
    says: /recognizes a repeated record for 1000 milliseconds only.*--dupe-window 10s/,
  },
];

for (const { change, says } of wrong)
  test(`a stream with ${JSON.stringify(change)} is no log, and the error says what to do`, async (context) => {
    const server = await sharedNats(context);
    if (server === undefined) return;
    const stream = nameOfStream();
    const settings = JSON.parse(JSON.stringify({ ...settingsOf(stream), ...change }).replaceAll("%", stream));
    const made = await administer(server, `STREAM.CREATE.${stream}`, settings);
    context.after(() => removeStream(server, stream));
    assert.equal(made["error"], undefined, JSON.stringify(made));

    const opening = logOf(context, { servers: [server], stream }).open(never());

    await rejects(opening, "LOG_SETTINGS", false);
    await assert.rejects(opening, says);
  });

test("a stream that keeps messages under other subjects is no log, and the fault says so", () => {
  const config = configOf({ servers: [], stream: "s" });
  const found = { retention: "limits", storage: "file", discard: "new", num_replicas: 1, max_age: 0 };
  const settings = { ...found, ...settingsOf("s"), duplicate_window: 120 * NANOS };

  const faults = [{ src: "s.p.*", dest: "other.{{wildcard(1)}}" }, undefined].map((subject_transform) =>
    settingFaults({ ...settings, ...(subject_transform ? { subject_transform } : {}) }, config, subjectsOf("s")),
  );

  assert.match(String(faults[0]), /^it keeps messages under other subjects .*\(subject_transform\).*; remove that/);
  assert.deepEqual(faults[1], []);
});

test("a server that allows no duplicate window of two minutes gets a stream with what it allows", async (context) => {
  const server = await ownNats(context, { jetstream: ['limits { duplicate_window: "30s" }'] });
  if (server === undefined) return;
  const stream = nameOfStream();

  await logOf(context, { servers: [server.url], stream }).open(never());

  const { config } = await administer(server.url, `STREAM.INFO.${stream}`);
  assert.equal(Object(config).duplicate_window, 30 * NANOS);
});

test("a stream that was sealed is no log, and the error says so", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  await administer(server, `STREAM.CREATE.${stream}`, settingsOf(stream));
  context.after(() => removeStream(server, stream));
  const { error } = await administer(server, `STREAM.UPDATE.${stream}`, { ...settingsOf(stream), sealed: true });
  assert.equal(error, undefined);

  await assert.rejects(logOf(context, { servers: [server], stream }).open(never()), {
    code: "LOG_SETTINGS",
    message: `opening the stream "${stream}": it is sealed; it cannot be changed, make the stream again with another name`,
  });
});

test("a stream that was made by hand is taken as it is, and its replica warned of", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  await administer(server, `STREAM.CREATE.${stream}`, settingsOf(stream));
  context.after(() => removeStream(server, stream));

  const { warnings } = await logOf(context, { servers: [server], stream, create_stream: false }).open(never());

  assert.equal(warnings.length, 1);
  assert.match(String(warnings[0]), /has one replica.*can be lost when its machine fails; use three replicas/);
});

for (const [version, warned] of [
  ["2.9.10", 1],
  ["2.11.6", 1],
  ["2.11.7", 0],
  ["2.12.0-RC.1", 0],
  ["3.0.0", 0],
] as const)
  test(`of three replicas on servers of ${version} ${warned} warning says that a leader may lack acknowledged records`, () => {
    const warnings = warningsOf({ num_replicas: 3 }, "s", version);

    assert.equal(warnings.length, warned);
    for (const warning of warnings)
      assert.match(warning, /can become leader before it has caught up.*2\.11\.7 or later$/);
  });

test("a missing stream that may not be made, and replicas without a cluster, are wrong settings", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;

  const missing = logOf(context, { servers: [server], create_stream: false }).open(never());
  await rejects(missing, "LOG_SETTINGS", false);
  await assert.rejects(missing, /does not exist; make it or set create_stream = true/);
  const lonely = logOf(context, { servers: [server], replicas: 3 }).open(never());
  await rejects(lonely, "LOG_SETTINGS", false);
  await assert.rejects(lonely, /replicas > 1 not supported in non-clustered mode/);
});

test("a stream that takes smaller messages than its server says how large records are", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  await administer(server, `STREAM.CREATE.${stream}`, { ...settingsOf(stream), max_msg_size: 10_000 });
  context.after(() => removeStream(server, stream));
  const log = logOf(context, { servers: [server], stream });

  const { largestRecord } = await log.open(never());

  assert.ok(largestRecord > 9000 && largestRecord < 10_000, String(largestRecord));
  await log.append(0, Buffer.alloc(largestRecord));
  await rejects(log.append(0, Buffer.alloc(largestRecord + 1)), "RECORD_TOO_LARGE", false);
});

test("what somebody changes of a stream is noticed while its log is open", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  await administer(server, `STREAM.CREATE.${stream}`, { ...settingsOf(stream), max_msg_size: 10_000 });
  context.after(() => removeStream(server, stream));
  const log = logOf(context, { servers: [server], stream });
  const { warnings } = await log.open(never());

  await administer(server, `STREAM.UPDATE.${stream}`, { ...settingsOf(stream), max_msg_size: 20_000 });
  const larger = await log.settings();
  await log.append(0, Buffer.alloc(15_000));
  await administer(server, `STREAM.UPDATE.${stream}`, { ...settingsOf(stream), discard: "old" });
  const unsafe = log.settings();

  assert.deepEqual(larger.warnings, warnings);
  await rejects(unsafe, "LOG_SETTINGS", false);
  await assert.rejects(unsafe, /a full stream removes its oldest events/);
});

for (const [allows, change] of [
  ["one consumer", { max_consumers: 1 }],
  // Servers of 2.9 have no such limit.
  ["consumers that are asked at least every 5 seconds", { consumer_limits: { inactive_threshold: 5 * NANOS } }],
] as const)
  test(`a stream that allows ${allows} is measured and read all the same`, async (context) => {
    const server = await sharedNats(context);
    if (server === undefined) return;
    const stream = nameOfStream();
    await administer(server, `STREAM.CREATE.${stream}`, { ...settingsOf(stream), ...change });
    context.after(() => removeStream(server, stream));
    const log = logOf(context, { servers: [server], stream });
    await log.open(never());
    const offsets: number[][] = [[], []];
    for (let count = 0; count < 20; count += 1)
      offsets[count % 2]?.push((await log.append(count % 2, Buffer.from(`${count}`))).offset);

    for (const part of [0, 1]) {
      const read = await readAll(log, part, { count: 10 });
      assert.deepEqual(
        read.map(({ offset }) => offset),
        offsets[part],
      );
    }
    const bounds = await log.bounds([0, 1]);

    for (const part of [0, 1])
      assert.deepEqual(bounds.get(part), { first: offsets[part]?.[0], next: (offsets[part]?.[9] ?? 0) + 1 });
  });

test("a record that is too large since a server takes less holds up nothing behind it", async (context) => {
  const server = await ownNats(context, { lines: ["max_payload: 1048576"] });
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url], stream: nameOfStream() });
  await log.open(never());
  const file = path.join(server.folder, "nats.conf");
  await writeFile(file, (await readFile(file, "utf8")).replace("1048576", "4096"));
  await server.halt();
  await server.resume();

  await until(
    () =>
      log.append(0, Buffer.from("a"), "a").then(
        () => true,
        () => false,
      ),
    (isThere) => isThere,
  );
  await rejects(log.append(0, Buffer.alloc(8000), "large"), "RECORD_TOO_LARGE", false);
  await log.append(0, Buffer.from("b"), "b");

  assert.deepEqual(texts(await readAll(log, 0, { count: 2 })), ["a", "b"]);
});

test("largest records follow max_payload of the server, and records that are larger are refused", async (context) => {
  const server = await ownNats(context, { lines: ["max_payload: 4096"] });
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url] });

  const { largestRecord } = await log.open(never());

  assert.ok(largestRecord > 3000 && largestRecord < 4096, String(largestRecord));
  await log.append(0, Buffer.alloc(largestRecord));
  await rejects(log.append(0, Buffer.alloc(largestRecord + 1)), "RECORD_TOO_LARGE", false);
});

test("a full stream takes no events and keeps what it has, takes reports and dead letters, and more after a trim", async (context) => {
  const server = await sharedNats(context);
  if (server === undefined) return;
  const stream = nameOfStream();
  context.after(() => removeStream(server, stream));
  const log = logOf(context, { servers: [server], stream, max_bytes: 40_000 });
  await log.open(never());
  const offsets: number[] = [];
  const fill = async () => {
    for (;;) offsets.push((await log.append(0, Buffer.alloc(2000))).offset);
  };

  await rejects(fill(), "LOG_FULL", true);
  const other = logOf(context, { servers: [server], stream });
  await other.open(never());
  for (const one of [log, other]) {
    await rejects(one.append(0, Buffer.alloc(5000)), "LOG_FULL", true);
    await one.append("letters", Buffer.alloc(200));
    await one.append("agents", Buffer.alloc(500));
  }
  await rejects(log.append("letters", Buffer.alloc(6000)), "LOG_FULL", true);

  assert.ok(offsets.length >= 12, `${offsets.length}`);
  const { first, next } = (await log.bounds([0])).get(0) ?? {};
  assert.equal(first, offsets[0]);
  await log.trim(new Map([[0, next ?? 0]]));
  const { offset } =
    (await until(
      () => log.append(0, Buffer.alloc(4000)).catch(() => undefined),
      (appended) => appended !== undefined,
    )) ?? assert.fail("it takes nothing");
  assert.ok(offset >= Number(next));
});

test("a stream whose max_msgs somebody lowers while agents use it takes no events beyond it, and takes reports and dead letters", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { server, stream, log } = shared;
  const { config } = await administer(server, `STREAM.INFO.${stream}`);
  await administer(server, `STREAM.UPDATE.${stream}`, { ...Object(config), max_msgs: 20 });
  // Asks the stream, as happens once a second anyway.
  await log.bounds([0]);
  const fill = async () => {
    for (;;) await log.append(0, Buffer.from("event"));
  };

  await assert.rejects(fill(), { code: "LOG_FULL", message: /the stream has 1\d of 20 messages.*raise .*max_msgs/ });
  await log.append("letters", Buffer.from("letter"));
  await log.append("agents", Buffer.from("report"));

  await log.trim(new Map([[0, (await log.bounds([0])).get(0)?.next ?? 0]]));
  await until(
    () => log.append(0, Buffer.from("event")).catch(() => undefined),
    (appended) => appended !== undefined,
  );
});

test("a stream of which somebody changes a setting so that it may remove events takes none until that is mended, and is read", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { server, stream, log } = shared;
  const { config } = await administer(server, `STREAM.INFO.${stream}`);
  const edit = async (change: object) => {
    await administer(server, `STREAM.UPDATE.${stream}`, { ...Object(config), ...change });
    // Asks the stream, as happens once a second anyway.
    await log.bounds([0]);
  };
  await log.append(0, Buffer.from("event"));

  await edit({ discard: "old", max_bytes: 100_000 });
  await assert.rejects(log.append(0, Buffer.from("another")), {
    code: "LOG_SETTINGS",
    appended: false,
    message: /removes its oldest events, discard is "old"; nats stream edit .* --discard new/,
  });
  await log.append("agents", Buffer.from("report"));
  assert.equal((await readAll(log, 0, { count: 1 })).length, 1);
  await edit({ max_bytes: -1 });

  await log.append(0, Buffer.from("another"));
});

test("a server without room for its streams is full", async (context) => {
  const server = await ownNats(context, { jetstream: ["max_file_store: 100000"] });
  if (server === undefined) return;
  const log = logOf(context, { servers: [server.url] });
  await log.open(never());

  const filling = (async () => {
    for (let count = 0; count < 10; count += 1) await log.append(0, Buffer.alloc(60_000));
  })();

  await rejects(filling, "LOG_FULL", true);
  assert.ok(((await log.bounds([0])).get(0)?.next ?? 0) > 1);
});
