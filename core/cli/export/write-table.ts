import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { printable } from "../../logging/log-record.js";
import type { StoredColumn } from "../../sdk/index.js";
import { type Rows, textFormats } from "./formats.js";
import { writeParquet } from "./parquet.js";

export type Format = keyof typeof textFormats | "parquet";

/** What is written of a table. */
export interface Written {
  readonly columns: readonly StoredColumn[];
  readonly pages: AsyncIterable<Rows>;
  /** The rows from the first one on. */
  readonly again: () => AsyncIterable<Rows>;
  readonly format: Format;
}

/** Writes the rows of a table into an empty file that is there; resolves to their number. */
export async function writeTable(file: string, { columns, pages, again, format }: Written): Promise<number> {
  return format === "parquet"
    ? await writeParquet(file, columns, readingFirst(pages, again))
    : await writeText({ columns, pages, again, format }, () => createWriteStream(file, { flags: "r+" }));
}

/** The rows that are already being read, and then those of another reading. */
function readingFirst(pages: AsyncIterable<Rows>, again: () => AsyncIterable<Rows>): () => AsyncIterable<Rows> {
  let reads = 0;
  return () => {
    reads += 1;
    return reads === 1 ? pages : again();
  };
}

/**
 * Writes the rows as text to a stream; `end` says whether the stream ends with them. On a screen the control characters of texts, which
 * senders choose, are escaped.
 */
export async function writeText(
  { columns, pages, format }: Written & { readonly format: keyof typeof textFormats },
  to: () => NodeJS.WritableStream,
  { end = true, isScreen = false } = {},
): Promise<number> {
  const { header, row: text } = textFormats[format];
  const shown = isScreen ? (lines: string) => printable(lines.replaceAll("\r\n", "\n")) : (lines: string) => lines;
  let count = 0;
  async function* chunks() {
    const first = header(columns);
    if (first !== "") yield shown(first);
    for await (const page of pages) {
      count += page.length;
      if (page.length > 0) yield shown(page.map((row) => text(columns, row)).join(""));
    }
  }
  // The next part is made when the one before is taken.
  await pipeline(Readable.from(chunks(), { objectMode: true, highWaterMark: 1 }), to(), { end });
  return count;
}
