import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { codeOf } from "../sdk/index.js";

const lineEnd = 10;
const tailStep = 65_536;

/** The lines of a file that end in a line feed, one at a time. No file has no lines. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(file)) {
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
      let from = 0;
      for (let end = bytes.indexOf(lineEnd); end !== -1; end = bytes.indexOf(lineEnd, from)) {
        yield Buffer.concat([rest, bytes.subarray(from, end)]).toString();
        rest = Buffer.alloc(0);
        from = end + 1;
      }
      rest = Buffer.concat([rest, bytes.subarray(from)]);
    }
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

/** Cuts a file behind its last line feed: what follows was never written completely. */
export async function mendTail(file: string): Promise<void> {
  const handle = await open(file, "r+").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (handle === undefined) return;
  try {
    const { size } = await handle.stat();
    for (let end = size; end > 0; ) {
      const length = Math.min(tailStep, end);
      const { buffer } = await handle.read(Buffer.alloc(length), 0, length, end - length);
      const at = buffer.lastIndexOf(lineEnd);
      if (at !== -1) return end - length + at + 1 < size ? await handle.truncate(end - length + at + 1) : undefined;
      end -= length;
    }
    await handle.truncate(0);
  } finally {
    await handle.close();
  }
}
