import { open } from "node:fs/promises";
import { type Logger, reasonOf } from "deneb/sdk";
import type { Appender } from "./appender.js";
import { type Range, rangesOf, without } from "./done-ranges.js";
import { readChunk, SEAL } from "./records.js";
import type { LogState, ReturnedSegment } from "./restore.js";
import { SEGMENT_HEADER_BYTES, type Segment, type SegmentList } from "./segments.js";

interface ReturnParts {
  readonly state: LogState;
  readonly appender: Appender;
  readonly segments: SegmentList;
  /** The other files, as the start found them, oldest first. */
  readonly present: readonly Segment[];
  readonly log: Logger;
  /** Writes the checkpoint. */
  save(): Promise<void>;
}

/**
 * Puts events that were missing at an earlier start behind all others, under new numbers: positions that were stored since then
 * cover the old ones. A file goes when all of it is written. Resolves to the number of events.
 */
export async function takeBack(returned: readonly ReturnedSegment[], parts: ReturnParts): Promise<number> {
  const { state, appender, segments, log } = parts;
  const { before, goesOn } = await backBefore(returned, parts);
  if (!goesOn) {
    // From here on a kill leaves what the next start compares.
    state.missingBefore = without(state.missingBefore, before);
    state.returning = state.next;
    await parts.save();
  }
  let all = countOf(before);
  for (const { segment, ranges } of returned) {
    const { file } = segment;
    const left = without(ranges, before);
    let events = 0;
    try {
      for await (const read of textsOf({ segment, ranges: left })) {
        await appender.rewrite(read.map(({ text }) => text));
        state.missingBefore = without(state.missingBefore, rangesOf(read.map(({ sequence }) => sequence)));
        events += read.length;
        all += read.length;
      }
      state.missingBefore = without(state.missingBefore, ranges);
      segments.add(segment);
      log.info({ file, events }, "events that were missing are back");
    } catch (error) {
      const message =
        "events that were missing are back and cannot be read or written: those left come at the next start";
      log.error({ file, events, reason: reasonOf(error) }, message);
    }
  }
  state.missingBefore = without(state.missingBefore, before);
  state.returning = undefined;
  return all;
}

interface BackBefore {
  readonly before: readonly Range[];
  /** Whether these are the first ones, and nothing else has been written since: then the next start compares this one and that one together. */
  readonly goesOn: boolean;
}

/**
 * What a start that was killed here had written already: the events with the texts that follow each other from the first number that it
 * used on. Others may be between them: of a file that it could not read, or that only now is back, too.
 */
async function backBefore(
  returned: readonly ReturnedSegment[],
  { state: { returning }, present, log }: ReturnParts,
): Promise<BackBefore> {
  if (returning === undefined) return { before: [], goesOn: false };
  const since = present.filter(({ last }) => last >= returning);
  const written = eventsOf(since.map((segment) => ({ segment, ranges: [{ from: returning, to: segment.last }] })));
  const same: number[] = [];
  let passedOver = false;
  try {
    let next = await written.next();
    for await (const { sequence, text } of eventsOf(returned)) {
      if (next.done === true) break;
      if (next.value.text === text) {
        same.push(sequence);
        next = await written.next();
      } else passedOver = true;
    }
    return { before: rangesOf(same), goesOn: next.done === true && !passedOver };
  } catch (error) {
    const message = "what a killed start had written of events that are back cannot be read: some may come twice";
    log.warn({ reason: reasonOf(error) }, message);
    return { before: rangesOf(same), goesOn: false };
  } finally {
    await written.return(undefined);
  }
}

async function* eventsOf(files: readonly ReturnedSegment[]): AsyncGenerator<ReturnedText, undefined> {
  for (const file of files) for await (const texts of textsOf(file)) yield* texts;
}

function countOf(ranges: readonly Range[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

interface ReturnedText {
  readonly sequence: number;
  readonly text: string;
}

/** The events of the ranges, as they are in the file, about a megabyte at a time. */
async function* textsOf({ segment: { file, end }, ranges }: ReturnedSegment): AsyncGenerator<readonly ReturnedText[]> {
  if (ranges.length === 0) return;
  const handle = await open(file, "r");
  try {
    for (let at = SEGMENT_HEADER_BYTES; at < end; ) {
      const { records, next } = await readChunk(handle, at, end);
      const texts = records.flatMap(({ record: { flags, sequence, text } }): readonly ReturnedText[] => {
        const isWanted = flags !== SEAL && ranges.some(({ from, to }) => from <= sequence && sequence <= to);
        return isWanted ? [{ sequence, text: text.toString() }] : [];
      });
      if (texts.length > 0) yield texts;
      at = next;
    }
  } finally {
    await handle.close();
  }
}
