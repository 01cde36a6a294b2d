import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { never, sharedLog } from "./nats.js";

const PARTITIONS = 60;

for (const { title, records } of [
  { title: "one record", records: 1 },
  { title: "no records", records: 0 },
  { title: "three records", records: 3 },
])
  test(`a part of ${title} to which others append while it is measured begins with its oldest record`, async (context) => {
    const shared = await sharedLog(context, PARTITIONS);
    if (shared === undefined) return;
    const { server, stream, log } = shared;
    const connection = await connect({ servers: [server] });
    context.after(() => connection.close());
    let subject = "";
    // Whatever is asked of the stream or its consumers, somebody else appends at that moment.
    for (const asked of [`STREAM.INFO.${stream}`, `CONSUMER.CREATE.${stream}.>`])
      connection.subscribe(`$JS.API.${asked}`, { callback: () => connection.publish(subject, "meanwhile") });
    await connection.flush();

    const wrong: string[] = [];
    for (let part = 0; part < PARTITIONS; part += 1) {
      const offsets: number[] = [];
      for (let count = 0; count < records; count += 1) offsets.push((await log.append(part, Buffer.from("x"))).offset);
      subject = `${stream}.p.${part}`;
      const bounds = (await log.bounds([part])).get(part);
      subject = `${stream}.agents`;
      const read = await log.read(new Map([[part, 0]]), { bytes: 1, waitMillis: 30_000 }, never());
      const oldest = read.get(part)?.[0]?.offset ?? Number.NaN;
      assert.ok(records === 0 || oldest === offsets[0]);
      if (bounds === undefined || bounds.first > oldest || bounds.next < bounds.first) {
        wrong.push(`part ${part} begins with ${oldest}: ${JSON.stringify(bounds)}`);
      }
    }

    assert.deepEqual(wrong, []);
  });

test("a part whose records are removed while it is measured is empty", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { server, stream, log } = shared;
  const { offset } = await log.append(0, Buffer.from("x"));
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  const purge = JSON.stringify({ filter: `${stream}.p.0` });
  // The answer to the question for the numbers comes before the consumer is asked for.
  connection.subscribe(`$JS.API.CONSUMER.CREATE.${stream}.>`, {
    callback: () => connection.publish(`$JS.API.STREAM.PURGE.${stream}`, purge),
  });
  await connection.flush();

  const first = (await log.bounds([0])).get(0);
  const again = (await log.bounds([0])).get(0);

  assert.ok(first !== undefined && first.first <= first.next, JSON.stringify(first));
  assert.deepEqual(again, { first: offset + 1, next: offset + 1 });
  assert.ok((await log.append(0, Buffer.from("y"))).offset > offset);
});
