import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import type { Range } from "./done-ranges.js";
import { readFully } from "./files.js";
import { encodeSeal, HEADER_BYTES, readRecord, SEAL } from "./records.js";

/** The last event and the place of the list: as text it has always the same length. */
const PLACE_DIGITS = 15;
const PLACE_BYTES = HEADER_BYTES + PLACE_DIGITS;

/** What the end of a segment says from which the records of events that are done were left out. */
export interface CompactedEnd {
  readonly first: number;
  readonly last: number;
  /** Where its last event ended. */
  readonly end: number;
  /** The events that it has, in order. */
  readonly stretches: readonly Stretch[];
}

/** Events whose records follow each other, and where in the file these are. */
export interface Stretch extends Range {
  readonly begin: number;
  readonly end: number;
}

type Listed = readonly [from: number, to: number, begin: number, end: number];
type List = readonly [first: number, stretches: readonly Listed[]];

/** Of `blocks` in what a file system says of a file. */
const STAT_BLOCK_BYTES = 512;

/** What such a file takes on the disk: as much as a whole one where the file system says less than was written. */
export function bytesOnDisk(
  { size, blocks }: Pick<Stats, "size" | "blocks">,
  { end, stretches }: Pick<CompactedEnd, "end" | "stretches">,
): number {
  const written = stretches.reduce((sum, stretch) => sum + stretch.end - stretch.begin, size - end);
  const bytes = blocks * STAT_BLOCK_BYTES;
  return bytes < written ? size : bytes;
}

/** What follows the last event: the list of those that are there, its place, and the seal. Readers before it was there take all of it for seals. */
export function compactedEnd({ first, last, end, stretches }: CompactedEnd): Buffer {
  const list: List = [first, stretches.map((one): Listed => [one.from, one.to, one.begin, one.end])];
  const place = String(end).padStart(PLACE_DIGITS, "0");
  return Buffer.concat([encodeSeal(last, JSON.stringify(list)), encodeSeal(last, place), encodeSeal(last)]);
}

/** The same of a file with a seal that begins at `seal`; undefined when it has all its events. */
export async function readCompactedEnd(
  handle: FileHandle,
  seal: number,
  last: number,
): Promise<CompactedEnd | undefined> {
  const placed = seal - PLACE_BYTES;
  const place = placed < 0 ? undefined : textOfSeal(await readFully(handle, placed, PLACE_BYTES), last);
  const end = Number(place ?? Number.NaN);
  if (!(end < placed)) return undefined;
  const text = textOfSeal(await readFully(handle, end, placed - end), last);
  if (text === undefined) return undefined;
  const [first, listed]: List = JSON.parse(text);
  return { first, last, end, stretches: listed.map(([from, to, begin, behind]) => ({ from, to, begin, end: behind })) };
}

function textOfSeal(bytes: Buffer, last: number): string | undefined {
  const reading = readRecord(bytes, 0);
  if (reading.kind !== "record" || reading.next !== bytes.length) return undefined;
  const { flags, sequence, text } = reading.record;
  return flags === SEAL && sequence === last && text.length > 0 ? text.toString() : undefined;
}
