import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as soon } from "node:timers/promises";
import type { FetchedRecord } from "../../../plugins/kafka/client/fetching.js";
import { Takings } from "../../../plugins/kafka/source/takings.js";

const MEBIBYTE = 1_048_576;
const NOTHING: FetchedRecord = { offset: 0, epoch: 0, key: null, value: null, headers: [], timestamp: 0 };

test("no more is read while records of 16 MiB wait for the channels", async () => {
  const { takings, free } = await holding(16 * MEBIBYTE - 1, 1);
  let hasRoom = false;
  const room = takings.room().then(() => {
    hasRoom = true;
  });
  await soon();
  const before = hasRoom;

  free(1);
  await room;

  assert.equal(before, false);
  assert.equal(takings.isHolding, true);
});

/** Of each partition one record of this size is held until it is free. */
async function holding(...sizes: readonly number[]) {
  const holds = new Map<number, () => void>();
  const read = async ({ record, held }: { record: FetchedRecord; held(): void }) => {
    held();
    await new Promise<void>((resolve) => holds.set(record.offset, resolve));
    return true;
  };
  const positions = {
    at: (place: { topic: string; partition: number }) => ({ ...place, offset: 0, epoch: 0, cuts: [] }),
    done: () => undefined,
    putting: (_: unknown, work: Promise<void>) => work,
  };
  const directory = { topic: () => ({ name: "t", id: "i", partitions: [] }) };
  const losses = { removed: () => undefined };
  const parts = { records: { read }, losses, groupName: "g", directory, positions };
  const takings = new Takings(parts, new AbortController().signal);
  for (const [partition, size] of sizes.entries()) {
    const record = { ...NOTHING, offset: partition, value: Buffer.alloc(size) };
    await takings.take({ topic: "t", partition, offset: 0, records: [record], marks: [], next: partition + 1 });
  }
  return { takings, free: (partition: number) => holds.get(partition)?.() };
}
