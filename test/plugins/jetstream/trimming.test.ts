import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "@nats-io/transport-node";
import { readAll } from "../../log/log-case.js";
import { sharedLog } from "./nats.js";

test("stored records of several parts are removed little by little, and what is not stored stays", async (context) => {
  const shared = await sharedLog(context);
  if (shared === undefined) return;
  const { server, stream, log } = shared;
  const offsets: number[][] = [[], []];
  for (let count = 0; count < 1600; count += 1)
    offsets[count % 2]?.push((await log.append(count % 2, Buffer.from(`${count}`))).offset);
  const at = (part: number, index: number) => offsets[part]?.[index] ?? Number.NaN;
  await log.trim(new Map([0, 1].map((part) => [part, at(part, 10)])));
  const connection = await connect({ servers: [server] });
  context.after(() => connection.close());
  const removed: { readonly filter: string; readonly seq: number }[] = [];
  connection.subscribe(`$JS.API.STREAM.PURGE.${stream}`, {
    callback: (_error, message) => {
      removed.push(JSON.parse(message.string()));
    },
  });
  await connection.flush();

  await log.trim(
    new Map([
      [0, at(0, 700)],
      [1, at(1, 600)],
    ]),
  );

  await connection.flush();
  for (const [part, last] of [700, 600].entries()) {
    const steps = removed.filter(({ filter }) => filter.endsWith(`.${part}`)).map(({ seq }) => seq);
    assert.ok(steps.length > 1, `${steps}`);
    assert.deepEqual(
      steps,
      steps.toSorted((one, other) => one - other),
    );
    assert.equal(steps.at(-1), at(part, last));
    const [first] = await readAll(log, part, { count: 1 });
    assert.equal(first?.offset, at(part, last));
  }
});
