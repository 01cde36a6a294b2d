import { type FileHandle, open } from "node:fs/promises";
import { batchSink, type Event, type Receipt, type Sink } from "deneb/sdk";
import type { EventLinesConfig } from "./config.js";

/** Appends each event as a line of JSON. */
export function eventLines({ file }: EventLinesConfig): Sink {
  return batchSink<FileHandle>({
    open: () => open(file, "a"),
    write: append,
    close: (handle) => handle.close(),
  });
}

/** Writes all lines or none: after a failure the file is truncated to its former size. */
async function append(handle: FileHandle, events: readonly Event[]): Promise<Receipt> {
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  const { size } = await handle.stat();
  try {
    await handle.appendFile(text);
  } catch (error) {
    await handle.truncate(size);
    throw error;
  }
  return { requestBytes: Buffer.byteLength(text), responseBytes: 0 };
}
