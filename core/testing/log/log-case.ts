import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Bounds, LogFacts, LogPart, LogRecord, PartitionedLog } from "../../log/index.js";
import { AgentError } from "../../sdk/index.js";
import type { ConformanceLogs } from "../plugin-setup.js";

/** Something that an adapter has to do, over logs of its own. */
export interface LogCase {
  readonly name: string;
  run(engine: ConformanceLogs): Promise<void>;
}

/** Milliseconds: longer than a record is on its way. */
export const LONG_WAIT = 30_000;
export const MEGABYTE = 1024 * 1024;

export interface Opened {
  readonly log: PartitionedLog;
  readonly facts: LogFacts;
}

export async function opened(
  engine: ConformanceLogs,
  partitions: number,
  work: (on: Opened, name: string) => Promise<void>,
): Promise<void> {
  const name = nameOfLog();
  await withLog(await engine.make(name, partitions), (on) => work(on, name));
  await engine.remove(name);
}

export async function withLog<T>(log: PartitionedLog, work: (on: Opened) => Promise<T>): Promise<T> {
  try {
    return await work({ log, facts: await log.open(never()) });
  } finally {
    await log.close(never());
  }
}

/** The first records of a part, of as many reads as it takes; what is only a mark does not count. */
export async function readAll(
  log: PartitionedLog,
  part: LogPart,
  { count, from = 0, size = MEGABYTE }: { readonly count: number; readonly from?: number; readonly size?: number },
): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  let next = from;
  let marks = 0;
  while (records.length < count) {
    const read = await log.read(new Map([[part, next]]), { bytes: size, waitMillis: LONG_WAIT }, never());
    const more = read.get(part) ?? [];
    const passed = marks === 0 ? "" : ` and ${marks} marks, which agents pass over,`;
    assert.ok(more.length > 0, `${records.length} of ${count} records of part ${part}${passed} were read`);
    for (const record of more) {
      assert.ok(record.offset >= next, `offset ${record.offset} comes after ${next}`);
      next = record.offset + 1;
      if (record.mark === true) marks += 1;
      else records.push(record);
    }
  }
  return records;
}

export async function readUntil(log: PartitionedLog, part: LogPart, offset: number): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  while ((records.at(-1)?.offset ?? -1) < offset) {
    records.push(...(await readAll(log, part, { count: 1, from: (records.at(-1)?.offset ?? -1) + 1 })));
  }
  return records;
}

export async function boundsOf(log: PartitionedLog, part: LogPart): Promise<Bounds> {
  const bounds = (await log.bounds([part])).get(part);
  assert.ok(bounds !== undefined);
  return bounds;
}

export async function rejects(work: Promise<unknown>, code: string, retryable: boolean): Promise<void> {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof AgentError, String(error));
    assert.deepEqual([error.code, error.retryable], [code, retryable], error.message);
    return true;
  });
}

export function recordsOf(read: ReadonlyMap<LogPart, readonly LogRecord[]>): number {
  return [...read.values()].reduce((sum, records) => sum + records.length, 0);
}

export function texts(records: readonly (LogRecord | undefined)[]): readonly string[] {
  return records.map((record) => (record === undefined ? "" : Buffer.from(record.value).toString()));
}

export function bytes(text: string): Buffer {
  return Buffer.from(text);
}

export function at(offsets: readonly number[], index: number): number {
  return offsets[index] ?? Number.NaN;
}

export function nameOfLog(): string {
  return `deneb-case-${randomBytes(6).toString("hex")}`;
}

/** A signal that is never aborted. */
export function never(): AbortSignal {
  return new AbortController().signal;
}
