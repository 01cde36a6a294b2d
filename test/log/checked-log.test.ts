import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { checkedLog } from "../../core/log/checked-log.js";
import type { LogPart, LogRecord, PartitionedLog } from "../../core/log/index.js";
import { packed, packedRecord } from "../../core/log/packed-record.js";
import { codeOf, reasonOf, textCodecs } from "../../core/sdk/index.js";
import { collect } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

const never = new AbortController().signal;

/** What JavaScript lets an adapter answer, whatever its types say. */
const answers: readonly { readonly call: keyof typeof calls; readonly answer: string; readonly says: RegExp }[] = [
  { call: "open", answer: "undefined", says: /answered open with undefined, not with an object/ },
  { call: "open", answer: '{ "largestRecord": 9, "warnings": [] }', says: /open: id with undefined, not with a text/ },
  {
    call: "open",
    answer: '{ "id": "a", "partitions": "8", "largestRecord": 9, "warnings": [] }',
    says: /open: partitions with "8", not with a number of at least 1/,
  },
  {
    call: "open",
    answer: '{ "id": "a", "partitions": 0, "largestRecord": 9, "warnings": [] }',
    says: /partitions with 0/,
  },
  {
    call: "open",
    answer: '{ "id": "a", "partitions": 1, "warnings": [] }',
    says: /open: largestRecord with undefined/,
  },
  { call: "open", answer: '{ "id": "a", "partitions": 1, "largestRecord": 9 }', says: /open: warnings with undefined/ },
  {
    call: "open",
    answer: '{ "id": "a", "partitions": 1, "largestRecord": 9, "warnings": "retention" }',
    says: /open: warnings with "retention", not with a list of texts/,
  },
  { call: "settings", answer: '{ "largestRecord": 9 }', says: /settings: warnings with undefined/ },
  { call: "append", answer: "undefined", says: /append to part 0 with undefined, not with an offset/ },
  { call: "append", answer: '{ "offset": "3" }', says: /append to part 0: offset with "3", not with a safe integer/ },
  { call: "append", answer: '{ "offset": 3, "previous": 3 }', says: /previous with 3, not with an offset before 3/ },
  {
    call: "append",
    answer: '{ "offset": 3, "previous": null }',
    says: /previous with null, not with an offset before 3/,
  },
  { call: "read", answer: "undefined", says: /answered read with undefined, not with a map/ },
  { call: "read", answer: '{ "0": [] }', says: /answered read with an object, not with a map/ },
  { call: "bounds", answer: '{ "0": [] }', says: /answered bounds with an object, not with a map/ },
];

const calls = {
  open: (log: PartitionedLog) => log.open(never),
  settings: async (log: PartitionedLog) => await log.settings?.(),
  append: (log: PartitionedLog) => log.append(0, Buffer.from("one")),
  read: (log: PartitionedLog) => log.read(new Map([[0, 0]]), { bytes: 1, waitMillis: 0 }, never),
  bounds: (log: PartitionedLog) => log.bounds([0]),
};

for (const { call, answer, says } of answers)
  test(`an adapter that answers ${call} with ${answer} is an error that names engine and value`, async (context) => {
    const log = answering(await opened(context), { [call]: async () => parsed(answer) });

    await assert.rejects(calls[call](log), (error) => {
      assert.equal(codeOf(error), "LOG_MALFORMED");
      assert.match(reasonOf(error), /^the adapter of the log engine "strange" .*; mend its plugin$/);
      assert.match(reasonOf(error), says);
      return true;
    });
  });

const ok: LogRecord = { offset: 4, value: Buffer.from("x") };

for (const { does, records, says } of [
  { does: "is no list", records: "none", says: /read of part 0 with "none", not with a list/ },
  {
    does: "has a text as offset",
    records: [{ ...ok, offset: "4" }],
    says: /offset with "4", not with an integer above -1/,
  },
  { does: "goes back", records: [ok, { ...ok, offset: 3 }], says: /offset with 3, not with an integer above 4/ },
  { does: "comes twice", records: [ok, ok], says: /offset with 4, not with an integer above 4/ },
  { does: "has a text as value", records: [{ ...ok, value: "x" }], says: /value at offset 4 with "x", not with bytes/ },
  {
    does: "has a list as value",
    records: [{ ...ok, value: [120] }],
    says: /value at offset 4 with a list, not with bytes/,
  },
])
  test(`what is read and ${does} is not taken for records`, async (context) => {
    const log = answering(await opened(context), { read: async () => new Map([[0, records]]) });

    await assert.rejects(calls.read(log), says);
  });

test("records of a part that was not asked for are an error", async (context) => {
  const log = answering(await opened(context), { read: async () => new Map([[1, [ok]]]) });

  await assert.rejects(calls.read(log), /answered read with 1, not with one of the parts that it was asked for/);
});

for (const { bounds, says } of [
  { bounds: { first: "0", next: 3 }, says: /bounds of part 0: first with "0"/ },
  { bounds: { first: 0, next: 3n }, says: /bounds of part 0: next with 3n, not with a safe integer/ },
  { bounds: { first: 4, next: 3 }, says: /first with 4, not with a safe integer of at most 3/ },
])
  test(`bounds from ${bounds.first} to ${bounds.next} are an error`, async (context) => {
    const log = answering(await opened(context), { bounds: async () => new Map([[0, bounds]]) });

    await assert.rejects(calls.bounds(log), says);
  });

test("a channel leaves out no record that its adapter gives it as a text, says why, and goes on once bytes come", async (context) => {
  const folder = await tempFolder(context);
  let isMended = false;
  const engine = (): PartitionedLog => {
    const log = directoryLog({ folder, partitions: 1 });
    return withMembers(log, {
      read: async (...call: Parameters<PartitionedLog["read"]>) => {
        const found = await log.read(...call);
        const records = found.get(0) ?? [];
        if (isMended || records.length === 0) return found;
        return new Map([[0, records.map(({ offset, value }) => ({ offset, value: `${value}` }))]]);
      },
    });
  };
  const channel = await openLogChannel({ folder, engine });
  context.after(() => channel.stop(AbortSignal.timeout(1000)));
  const log = directoryLog({ folder, partitions: 1 });
  await log.open(never);
  const event = packed({ headers: {}, body: 1 }, textCodecs());
  await log.append(0, packedRecord([event], { at: 0, writer: "w", before: 0 }));

  const said = await until(
    async () => channel.log?.()?.unreachable ?? "",
    (reason) => reason !== "",
  );
  assert.match(said, /engine "directory" answered read of part 0: value at offset 0 with ".*", not with bytes/);
  isMended = true;

  assert.deepEqual((await collect(channel, 1)).bodies, [1]);
  assert.equal(channel.lost, 0);
});

test("reads of an adapter that never waits let the rest of the process have its turn", async (context) => {
  let reads = 0;
  const log = answering(await opened(context), {
    read: async (): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>> => {
      reads += 1;
      return new Map();
    },
  });
  let isOver = false;
  const reading = (async () => {
    while (!isOver && reads < 1000) await log.read(new Map([[0, 0]]), { bytes: 1, waitMillis: 500 }, never);
  })();

  await setImmediate();
  isOver = true;
  await reading;

  assert.ok(reads < 1000, `${reads} reads in one turn`);
});

test("what an adapter throws at once is a rejection", async (context) => {
  const log = answering(await opened(context), {
    append: () => {
      throw new Error("no socket");
    },
  });

  await assert.rejects(calls.append(log), /no socket/);
});

async function opened(context: Parameters<typeof tempFolder>[0]): Promise<PartitionedLog> {
  const log = directoryLog({ folder: await tempFolder(context), partitions: 1 });
  await log.open(never);
  context.after(() => log.close(never));
  return log;
}

function answering(log: PartitionedLog, members: object): PartitionedLog {
  return checkedLog(withMembers(log, members), "strange");
}

/** An adapter with members that no compiler has seen. */
function withMembers(log: PartitionedLog, members: object): PartitionedLog {
  const { open, append, read, bounds, trim, close } = log;
  const whole = { open, append, read, bounds, trim, close };
  for (const [name, call] of Object.entries(whole)) Object.assign(whole, { [name]: call.bind(log) });
  return Object.assign(whole, members);
}

function parsed(answer: string): unknown {
  return answer === "undefined" ? undefined : JSON.parse(answer);
}
