import { open } from "node:fs/promises";
import { type Logger, reasonOf } from "deneb/sdk";
import type { Appender } from "./appender.js";
import { rangesOf, without } from "./done-ranges.js";
import { readChunk, SEAL } from "./records.js";
import type { LogState, ReturnedSegment } from "./restore.js";
import { SEGMENT_HEADER_BYTES, type SegmentList } from "./segments.js";

interface ReturnParts {
  readonly state: LogState;
  readonly appender: Appender;
  readonly segments: SegmentList;
  readonly log: Logger;
}

/**
 * Puts events that were missing at an earlier start behind all others, under new numbers: positions that were stored since then
 * cover the old ones. A file goes when all of it is written. Resolves to the number of events.
 */
export async function takeBack(
  returned: readonly ReturnedSegment[],
  { state, appender, segments, log }: ReturnParts,
): Promise<number> {
  let all = 0;
  for (const { segment, ranges } of returned) {
    const { file } = segment;
    let events = 0;
    try {
      for await (const read of textsOf({ segment, ranges })) {
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
  return all;
}

interface ReturnedText {
  readonly sequence: number;
  readonly text: string;
}

/** The events that were missing, as they are in the file, about a megabyte at a time. */
async function* textsOf({ segment: { file, end }, ranges }: ReturnedSegment): AsyncGenerator<readonly ReturnedText[]> {
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
