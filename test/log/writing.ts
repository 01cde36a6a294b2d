import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { PartitionedLog } from "../../core/log/index.js";
import { readAll, texts } from "../../core/testing/log/log-case.js";
import { until } from "../support/until.js";

/** Between two appends: their number is no matter, that they go on is. */
const BREATH_MILLIS = 10;

/** What is appended to a part until it is stopped. */
export type Writing = ReturnType<typeof writing>;

/** Appends one record after another to a part, and keeps where each stands, until it is stopped. */
export function writing(log: PartitionedLog, part: number, name: string) {
  const wrote: { readonly offset: number; readonly text: string }[] = [];
  const end = new AbortController();
  const running = (async () => {
    for (let count = 0; !end.signal.aborted; count += 1) {
      const text = `${name} ${count}`;
      const { offset } = await log.append(part, Buffer.from(text));
      wrote.push({ offset, text });
      await pause(BREATH_MILLIS);
    }
  })();
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  let failure: unknown;
  running.catch((error: unknown) => {
    failure = error;
  });
  /** How many records it wrote; throws when it could not go on. */
  const count = (): number => {
    if (failure !== undefined) throw failure;
    return wrote.length;
  };
  return { part, wrote, count, stop };
}

/** Each of them writes some more records. */
export async function goOn(writers: readonly Writing[]): Promise<void> {
  const before = writers.map(({ count }) => count());
  await until(
    async () => Math.min(...writers.map(({ count }, index) => count() - (before[index] ?? 0))),
    (count) => count >= 20,
    240_000,
  );
}

/** What they wrote, and nothing else, is in the parts, once and where their appends said. */
export async function assertKept(log: PartitionedLog, writers: readonly Writing[]): Promise<void> {
  for (const part of new Set(writers.map((writer) => writer.part))) {
    const here = writers.filter((writer) => writer.part === part).flatMap(({ wrote }) => wrote);
    const sorted = here.toSorted((left, right) => left.offset - right.offset);
    const records = await readAll(log, part, { count: here.length });
    assert.deepEqual(
      texts(records),
      sorted.map(({ text }) => text),
    );
    assert.deepEqual(
      records.map(({ offset }) => offset),
      sorted.map(({ offset }) => offset),
    );
  }
}
