import assert from "node:assert/strict";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { LogPart, PartitionedLog } from "deneb/log";
import { codeOf } from "../../core/sdk/index.js";
import { collect, put, take } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { anotherLogChannel, cutOffLog, linesOf, openLogChannel } from "./opened-channel.js";

/** A log that keeps its events apart from what agents tell each other, as in topics of Kafka. */
function logInTwo(events: string, control: string): PartitionedLog {
  const numbered = directoryLog({ folder: events, partitions: 1 });
  const others = directoryLog({ folder: control, partitions: 1 });
  const of = (part: LogPart | undefined) => (typeof part === "number" ? numbered : others);
  return {
    open: async (signal) => {
      await others.open(signal);
      return await numbered.open(signal);
    },
    append: (part, ...record) => of(part).append(part, ...record),
    read: (from, ...limits) => of([...from.keys()][0]).read(from, ...limits),
    bounds: (parts) => of(parts[0]).bounds(parts),
    trim: (before) => of([...before.keys()][0]).trim(before),
    close: async (signal) => void (await Promise.all([numbered.close(signal), others.close(signal)])),
  };
}

async function opened(context: TestContext, partitions = 1) {
  const channel = await openLogChannel({ folder: await tempFolder(context), partitions });
  context.after(() => channel.stop(AbortSignal.abort()));
  return channel;
}

test("what an agent had taken when it lost the log, another one gets", async (context) => {
  const first = await opened(context);
  await put(first, 1, 2, 3);
  await take(first, 2);

  cutOffLog(first);
  const second = await anotherLogChannel(first);
  context.after(() => second.stop(AbortSignal.abort()));

  const { bodies, redelivered } = await collect(second, 3);
  assert.deepEqual(
    [bodies, redelivered],
    [
      [1, 2, 3],
      [1, 2, 3],
    ],
  );
});

test("an agent that lost the log answers that it cannot put, and says so of itself", async (context) => {
  const channel = await opened(context);

  cutOffLog(channel);
  const refused = await put(channel, 1).catch((error: unknown) => error);

  assert.match(String(refused), /LOG_UNAVAILABLE|the log is cut off/);
  assert.equal(channel.log?.()?.unreachable, "the log is cut off");
});

test("a part whose log ends before its stored position is held and refuses puts until the log is as long, and an error names it", async (context) => {
  const channel = await opened(context);
  const { id } = channel.log?.() ?? { id: "" };

  await channel.skipTo?.(`${id}/g/0:2+0:3,3,0,0`);
  await until(
    async () => linesOf(channel),
    (lines) => lines.some(({ message }) => message.startsWith("the log ends before what is stored")),
  );
  for (const body of [1, 2, 3])
    await assert.rejects(put(channel, body), /had records up to 2 before: it has lost records/, String(body));
  const refusals = linesOf(channel).filter(({ fields }) =>
    /it has lost records/.test(String(Reflect.get(fields, "reason"))),
  );
  assert.equal(refusals.length, 1, "each refusal is the same cause");
  await put(channel, 4);

  const { bodies } = await collect(channel, 1);
  assert.deepEqual(bodies, [4]);
});

test("what is put before sinks have told what is stored waits for that: a log that was restored takes nothing that would count as stored", async (context) => {
  const folder = await tempFolder(context);
  const channel = await openLogChannel({ folder, takes: false, hasSinks: true, config: { "keep-alive": 3600 } });
  context.after(() => channel.stop(AbortSignal.abort()));
  const { id } = channel.log?.() ?? { id: "" };

  const putting = put(channel, 1).catch((error: unknown) => error);
  // What does not wait is in the log by then.
  const other = await openLogChannel({ folder });
  context.after(() => other.stop(AbortSignal.abort()));
  await put(other, 2);
  await channel.skipTo?.(`${id}/g/0:1+0:2,2,0,0`);
  const taking = channel.openTake().take(1, AbortSignal.timeout(60_000));

  assert.match(String(await putting), /had records up to 1 before: it has lost records/);
  await put(channel, 3);
  assert.equal((await taking).length, 1);
});

test("a put that waits until sinks have told what is stored does not keep a stop", async (context) => {
  const folder = await tempFolder(context);
  const channel = await openLogChannel({ folder, takes: false, hasSinks: true, config: { "keep-alive": 3600 } });

  const putting = put(channel, 1).catch(codeOf);
  await channel.stop(AbortSignal.timeout(60_000));

  assert.equal(await putting, "CHANNEL_STOPPED");
});

test("a log that is shorter than the agent saw it takes nothing until sinks have told what is stored, and is as long as it is then", async (context) => {
  const folder = await tempFolder(context);
  const reached = new Map([[0, 4]]);
  const channel = await openLogChannel({ folder, takes: false, hasSinks: true, reached });
  context.after(() => channel.stop(AbortSignal.abort()));

  for (const body of [1, 2])
    await assert.rejects(put(channel, body), /had records up to 4 before.* told what is stored/);
  const kept = reached.get(0);
  const { bodies } = await collect(channel, 2);
  await put(channel, 3);

  assert.deepEqual([kept, reached.get(0)], [4, 2]);
  assert.deepEqual([...bodies, ...(await collect(channel, 1)).bodies], [1, 2, 3]);
});

test("a log that has lost records that were not stored, and is soon as long again, is an error, once", async (context) => {
  const folder = await tempFolder(context);
  const channel = await openLogChannel({ folder, hasSinks: true, reached: new Map([[0, 1]]) });
  context.after(() => channel.stop(AbortSignal.abort()));
  for (const body of [1, 2, 3]) await put(channel, body);

  const { bodies } = await collect(channel, 3);
  const errors = await until(
    async () => linesOf(channel).filter(({ level }) => level === "error"),
    ({ length }) => length > 0,
  );

  assert.deepEqual(bodies, [1, 2, 3]);
  assert.deepEqual(
    errors.map(({ fields, message }) => [fields, message.split(":", 1)[0]]),
    [[{ partition: 0 }, "the log ends before records that this agent had seen in a partition"]],
  );
});

test("the newest record that an agent has appended, or read, is kept", async (context) => {
  const folder = await tempFolder(context);
  const [one, other] = [new Map<number, number>(), new Map([[0, 0]])];
  const first = await openLogChannel({ folder, takes: false, reached: one });
  for (const body of [1, 2, 3]) await put(first, body);
  await first.stop(AbortSignal.timeout(60_000));
  const second = await openLogChannel({ folder, reached: other });
  context.after(() => second.stop(AbortSignal.abort()));

  await collect(second, 3);

  assert.deepEqual([one.get(0), other.get(0)], [2, 2]);
});

test("what an engine that lost its newest records puts in their place is refused, and what follows is stored", async (context) => {
  const folder = await tempFolder(context);
  // Each append asks the engine where its log ends.
  const engine = () => {
    const log = directoryLog({ folder, partitions: 1 });
    log.append = (part, value) => directoryLog({ folder, partitions: 1 }).append(part, value);
    return log;
  };
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.abort()));
  for (const body of [1, 2, 3]) await put(channel, body);
  await (await take(channel, 3)).transaction.commit();

  for (const offset of [1, 2]) await unlink(join(folder, "part-0", String(offset).padStart(12, "0")));
  for (const body of [4, 5]) await assert.rejects(put(channel, body), /it has lost records/, String(body));
  await put(channel, 6);

  assert.deepEqual((await collect(channel, 1)).bodies, [6]);
});

test("records that somebody removed before they were stored are an error with the partition, and count as lost", async (context) => {
  const folder = await tempFolder(context);
  const before = await openLogChannel({ folder });
  for (const body of [1, 2, 3, 4, 5]) await put(before, body);
  const { id } = before.log?.() ?? { id: "" };
  await before.stop(AbortSignal.timeout(1000));
  await directoryLog({ folder, partitions: 1 }).trim(new Map([[0, 4]]));

  const channel = await openLogChannel({ folder, takes: false });
  context.after(() => channel.stop(AbortSignal.abort()));
  await channel.skipTo?.(`${id}/g/0:0+0:1,1,0,0`);
  const { bodies } = await collect(channel, 1);
  await until(
    async () => channel.lost,
    (lost) => lost === 3,
  );

  const { appended = 0, stored = 0, waiting = 0, lost } = channel.log?.() ?? {};
  assert.deepEqual([appended - stored - waiting, lost], [0, 3]);
  assert.deepEqual(bodies, [5]);
  assert.deepEqual(
    linesOf(channel)
      .filter(({ level }) => level === "error")
      .map(({ fields, message }) => [fields, message.split(":", 1)[0]]),
    [[{ partition: 0, lost: 3 }, "records of the log are missing"]],
  );
});

test("a position behind what was read leaves out what it covers, also when this agent works on the part already", async (context) => {
  const channel = await opened(context);
  const { id } = channel.log?.() ?? { id: "" };
  for (const body of [1, 2, 3, 4]) await put(channel, body);

  const skipped = await channel.skipTo?.(`${id}/g/0:1+0:2,2,0,0`);

  assert.equal(skipped, 2);
  assert.deepEqual((await collect(channel, 2)).bodies, [3, 4]);
});

test("of a log whose events are made again, while what agents told each other stays, all is delivered", async (context) => {
  const [before, after, control] = [await tempFolder(context), await tempFolder(context), await tempFolder(context)];
  const first = await openLogChannel({ folder: before, engine: () => logInTwo(before, control) });
  for (const body of [1, 2, 3]) await put(first, body);
  for (const transaction of (await collect(first, 3)).transactions) await transaction.commit();
  await first.stop(AbortSignal.timeout(1000));

  const second = await openLogChannel({ folder: after, engine: () => logInTwo(after, control) });
  context.after(() => second.stop(AbortSignal.abort()));
  await put(second, 4);

  assert.deepEqual((await collect(second, 1)).bodies, [4]);
});

test("a report that does not say of which log it is holds up no partition, and is warned of once", async (context) => {
  const folder = await tempFolder(context);
  const others = directoryLog({ folder, partitions: 1 });
  await others.open(new AbortController().signal);
  const report = { deneb: 1, member: "m", run: "r", agent: "a", group: "g", at: 0, takes: true, parts: [] };
  const heard = [["g", [[0, "999+0:9,9,0,0"]]]];
  for (const _ of ["once", "twice"]) await others.append("agents", Buffer.from(JSON.stringify({ ...report, heard })));
  const channel = await openLogChannel({ folder, partitions: 1 });
  context.after(() => channel.stop(AbortSignal.abort()));

  await put(channel, 1);

  assert.deepEqual((await collect(channel, 1)).bodies, [1]);
  const warnings = linesOf(channel).filter(({ message }) => message.includes("does not say of which log it is"));
  assert.deepEqual(
    warnings.map(({ level, fields }) => ({ level, fields })),
    [{ level: "warn", fields: { offset: 0 } }],
  );
});

test("positions of another group or log leave out nothing", async (context) => {
  const channel = await opened(context);
  const { id } = channel.log?.() ?? { id: "" };
  await put(channel, 1);

  const skipped = [
    await channel.skipTo?.(`${id}/other/0:5+0:6,6,0,0`),
    await channel.skipTo?.("directory-other/g/0:5+0:6,6,0,0"),
    await channel.skipTo?.(`${id}/g/zero:5+0:6,6,0,0`),
    await channel.skipTo?.("file:run:5"),
  ];

  assert.deepEqual([skipped, (await collect(channel, 1)).bodies], [[0, 0, 0, 0], [1]]);
});
