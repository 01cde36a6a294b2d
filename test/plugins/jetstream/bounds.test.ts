import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { removeStream } from "./administration.js";
import { configOf, logOf, never, sharedNats } from "./nats.js";

const PARTITIONS = 60;

for (const { title, records } of [
  { title: "one record", records: 1 },
  { title: "no records", records: 0 },
  { title: "three records", records: 3 },
])
  test(`a part of ${title} to which others append while it is measured begins with its oldest record`, async (context) => {
    const server = await sharedNats(context);
    if (server === undefined) return;
    const config = configOf({ servers: [server], partitions: PARTITIONS });
    context.after(() => removeStream(server, config.stream));
    const log = logOf(context, config);
    await log.open(never());
    const connection = await connect({ servers: [server] });
    context.after(() => connection.close());
    let subject = "";
    // Whatever is asked of the stream or its consumers, somebody else appends at that moment.
    for (const asked of [`STREAM.INFO.${config.stream}`, `CONSUMER.CREATE.${config.stream}.>`])
      connection.subscribe(`$JS.API.${asked}`, { callback: () => connection.publish(subject, "meanwhile") });
    await connection.flush();

    const wrong: string[] = [];
    for (let part = 0; part < PARTITIONS; part += 1) {
      const offsets: number[] = [];
      for (let count = 0; count < records; count += 1) offsets.push((await log.append(part, Buffer.from("x"))).offset);
      subject = `${config.stream}.p.${part}`;
      const bounds = (await log.bounds([part])).get(part);
      subject = `${config.stream}.agents`;
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
  const server = await sharedNats(context);
  if (server === undefined) return;
  const config = configOf({ servers: [server] });
  context.after(() => removeStream(server, config.stream));
  const log = logOf(context, config);
  await log.open(never());
  const { offset } = await log.append(0, Buffer.from("x"));
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  const purge = JSON.stringify({ filter: `${config.stream}.p.0` });
  // The answer to the question for the numbers comes before the consumer is asked for.
  connection.subscribe(`$JS.API.CONSUMER.CREATE.${config.stream}.>`, {
    callback: () => connection.publish(`$JS.API.STREAM.PURGE.${config.stream}`, purge),
  });
  await connection.flush();

  const first = (await log.bounds([0])).get(0);
  const again = (await log.bounds([0])).get(0);

  assert.ok(first !== undefined && first.first <= first.next, JSON.stringify(first));
  assert.deepEqual(again, { first: offset + 1, next: offset + 1 });
  assert.ok((await log.append(0, Buffer.from("y"))).offset > offset);
});
