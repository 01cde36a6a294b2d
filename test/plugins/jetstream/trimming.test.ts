import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { readAll } from "../../../core/testing/log/log-case.js";
import { sharedLog } from "./nats.js";

interface Purge {
  readonly filter: string;
  readonly seq: number;
}

/** A log with this number of records in each of two parts, whose first removal is done, and what is asked to be removed after it. */
async function scene(context: TestContext, { records }: { readonly records: number }) {
  const shared = await sharedLog(context);
  if (shared === undefined) return undefined;
  const { server, stream, log } = shared;
  const offsets: number[][] = [[], []];
  for (let count = 0; count < 2 * records; count += 1)
    offsets[count % 2]?.push((await log.append(count % 2, Buffer.from(`${count}`))).offset);
  const at = (part: number, index: number) => offsets[part]?.[index] ?? Number.NaN;
  const both = (one: number, other = one) =>
    new Map([
      [0, at(0, one)],
      [1, at(1, other)],
    ]);
  await log.trim(both(10));
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  const removed: Purge[] = [];
  const seen = new AbortController();
  connection.subscribe(`$JS.API.STREAM.PURGE.${stream}`, {
    callback: (_error, message) => {
      removed.push(JSON.parse(message.string()));
      seen.abort();
    },
  });
  await connection.flush();
  const firstOf = async (part: number) => (await readAll(log, part, { count: 1 }))[0]?.offset;
  return { log, at, both, removed, seen: seen.signal, flush: () => connection.flush(), firstOf };
}

test("stored records of several parts are removed little by little, and what is not stored stays", async (context) => {
  const room = await scene(context, { records: 800 });
  if (room === undefined) return;
  const { log, at, both, removed, flush, firstOf } = room;

  await log.trim(both(700, 600));

  await flush();
  for (const [part, last] of [700, 600].entries()) {
    const steps = removed.filter(({ filter }) => filter.endsWith(`.${part}`)).map(({ seq }) => seq);
    assert.ok(steps.length > 1, `${steps}`);
    assert.deepEqual(
      steps,
      steps.toSorted((one, other) => one - other),
    );
    assert.equal(steps.at(-1), at(part, last));
    assert.equal(await firstOf(part), at(part, last));
  }
});

test("a removal that is stopped leaves the rest to the next one", async (context) => {
  const room = await scene(context, { records: 3000 });
  if (room === undefined) return;
  const { log, at, both, removed, seen, flush, firstOf } = room;

  await log.trim(both(2900), seen);

  await flush();
  assert.ok(removed.every(({ seq }) => seq < at(0, 2900)));
  await log.trim(both(2900));
  for (const part of [0, 1]) assert.equal(await firstOf(part), at(part, 2900));
});

test("a removal that is stopped before it begins removes nothing", async (context) => {
  const room = await scene(context, { records: 20 });
  if (room === undefined) return;
  const { log, at, both, removed, flush, firstOf } = room;

  await log.trim(both(15), AbortSignal.abort());

  await flush();
  assert.deepEqual(removed, []);
  for (const part of [0, 1]) assert.equal(await firstOf(part), at(part, 10));
});
