import fs, { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { GCProfiler, getHeapStatistics } from "node:v8";

/**
 * Runs inside the agent, before it: counts what it does through Node and sends the counts since the last message as an
 * answer to each message.
 */
const counts = { fileWrites: 0, fileBytes: 0, fileSyncs: 0, jsonTexts: 0, jsonCharacters: 0 };

type Wrapped = (...args: unknown[]) => unknown;

/** Replaces a method by one that also looks at its arguments and its result. */
function look(owner: object, name: string, see: (args: readonly unknown[], result: unknown) => void): void {
  const original: unknown = Reflect.get(owner, name);
  if (typeof original !== "function") return;
  const wrapped: Wrapped = function wrapped(this: unknown, ...args) {
    const result: unknown = Reflect.apply(original, this, args);
    see(args, result);
    return result;
  };
  Reflect.set(owner, name, Object.assign(wrapped, original));
}

function wrote([first, second]: readonly unknown[]): void {
  const data = typeof first === "number" ? second : first;
  counts.fileWrites += 1;
  const parts: readonly unknown[] = Array.isArray(data) ? data : [data];
  for (const part of parts) counts.fileBytes += typeof part === "string" ? Buffer.byteLength(part) : bytesOf(part);
}

function bytesOf(part: unknown): number {
  return ArrayBuffer.isView(part) ? part.byteLength : 0;
}

/** Of `handle.write(buffer, offset, length)`: the length. */
function wroteRange(args: readonly unknown[]): void {
  const [, , length] = args;
  if (typeof length === "number") {
    counts.fileWrites += 1;
    counts.fileBytes += length;
  } else wrote(args);
}

const synced = () => {
  counts.fileSyncs += 1;
};

const handle = await promises.open(process.execPath);
const handles = Object.getPrototypeOf(handle);
await handle.close();
look(handles, "write", wroteRange);
for (const name of ["writev", "appendFile", "writeFile"]) look(handles, name, wrote);
for (const name of ["sync", "datasync"]) look(handles, name, synced);
for (const name of ["write", "writeSync", "writev", "writevSync"]) look(fs, name, wrote);
for (const name of ["fsync", "fsyncSync", "fdatasync", "fdatasyncSync"]) look(fs, name, synced);
syncBuiltinESMExports();

look(JSON, "stringify", (_, result) => {
  counts.jsonTexts += 1;
  counts.jsonCharacters += typeof result === "string" ? result.length : 0;
});
look(JSON, "parse", ([text]) => {
  counts.jsonTexts += 1;
  counts.jsonCharacters += typeof text === "string" ? text.length : 0;
});

let profiler = new GCProfiler();
let heap = 0;

/** Bytes that were allocated since the last call: the growth of the heap between its collections. */
function allocated(): number {
  const { statistics = [] } = profiler.stop() ?? {};
  let before = heap;
  let sum = 0;
  for (const { beforeGC, afterGC } of statistics) {
    sum += beforeGC.heapStatistics.usedHeapSize - before;
    before = afterGC.heapStatistics.usedHeapSize;
  }
  sum += getHeapStatistics().used_heap_size - before;
  globalThis.gc?.();
  profiler = new GCProfiler();
  profiler.start();
  heap = getHeapStatistics().used_heap_size;
  return sum;
}

profiler.start();
process.on("message", () => {
  const seen = { ...counts, allocatedBytes: allocated() };
  for (const name of ["fileWrites", "fileBytes", "fileSyncs", "jsonTexts", "jsonCharacters"] as const) counts[name] = 0;
  process.send?.(seen);
});
process.channel?.unref();
