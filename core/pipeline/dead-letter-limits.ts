import { isMark } from "./dead-letter.js";
import type { DeadLetterFile, LetterStanding } from "./dead-letter-file.js";

/** How much is kept; 0 is no limit. */
export interface DeadLetterLimits {
  /** Days a letter is kept. */
  readonly days: number;
  /** Bytes of the letters of one sink. */
  readonly bytes: number;
}

const dayInMilliseconds = 86_400_000;

/** The share of the bytes that is left after a file outgrew its limit, so that not every letter writes it anew. */
const shareAfterSweep = 0.75;

/** The time before which letters are too old. */
export function cutoffOf({ days }: DeadLetterLimits, now: Date): string {
  return days === 0 ? "" : new Date(now.getTime() - days * dayInMilliseconds).toISOString();
}

/** Writes a file anew without what is settled, too old, or too much; returns how many open letters that cost. */
export async function sweep(file: DeadLetterFile, limits: DeadLetterLimits, now: Date): Promise<number> {
  const cutoff = cutoffOf(limits, now);
  const needed = await neededLines(file);
  const young = needed.filter(({ time }) => time >= cutoff);
  const kept = newest(young, limits.bytes);
  await file.keepOnly(new Set(kept.map(({ line }) => line)));
  const gone = needed.length - kept.length;
  return gone === 0 ? 0 : lettersIn(needed) - lettersIn(kept);
}

interface NeededLine {
  readonly line: number;
  readonly bytes: number;
  readonly time: string;
  readonly letter: boolean;
}

/** Open letters with what they stand at, and the marks of stored ones: they keep a second copy from being stored. */
async function neededLines(file: DeadLetterFile): Promise<readonly NeededLine[]> {
  const standings = await file.standings();
  const needed: NeededLine[] = [];
  for await (const { line, bytes, record } of file.records()) {
    const standing = standings.get(record.id);
    if (standing === undefined) continue;
    const letter = !isMark(record);
    const isLatest = line === (letter ? standing.line : standing.lastLine);
    if (isLatest && (isOpen(standing) || (!letter && standing.mark === "stored"))) {
      needed.push({ line, bytes, time: record.time, letter });
    }
  }
  return needed;
}

function isOpen({ line, mark }: LetterStanding): boolean {
  return line !== undefined && (mark === "waiting" || mark === "replaying");
}

/** All when they are within the limit, else the newest that fill a part of it. */
function newest(lines: readonly NeededLine[], limit: number): readonly NeededLine[] {
  let total = lines.reduce((sum, { bytes }) => sum + bytes, 0);
  if (limit === 0 || total <= limit) return lines;
  const firstKept = lines.findIndex(({ bytes }) => {
    const fits = total <= limit * shareAfterSweep;
    total -= bytes;
    return fits;
  });
  return firstKept === -1 ? [] : lines.slice(firstKept);
}

function lettersIn(lines: readonly NeededLine[]): number {
  return lines.filter(({ letter }) => letter).length;
}

/** True when the oldest record of a file is older than letters may be. */
export async function hasOld(file: DeadLetterFile, limits: DeadLetterLimits, now: Date): Promise<boolean> {
  for await (const { record } of file.records()) return record.time < cutoffOf(limits, now);
  return false;
}
