import type { Logger } from "deneb/sdk";
import type { FoundSegment } from "./find-segments.js";
import { Segment } from "./segment.js";

/** The id that most segments have; undefined when none can be read. */
export function commonId(found: readonly FoundSegment[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { id } of found) if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  const [most] = [...counts].sort(([, one], [, other]) => other - one);
  return most?.[0];
}

/** The segments of a channel under any of its ids, each with numbers of its own; what is left out or looks wrong is reported. */
export function ownSegments(
  found: readonly FoundSegment[],
  own: readonly string[],
  log: Logger,
): readonly FoundSegment[] {
  const kept: FoundSegment[] = [];
  let last = 0;
  for (const one of found.filter((each) => isOurs(each, own, log))) {
    const { segment, named } = one;
    const { file, first } = segment;
    if (segment.isEmpty) {
      kept.push(one);
      continue;
    }
    if (named !== first) log.error({ file, first, last: segment.last }, "segment was renamed: read by its content");
    if (segment.last <= last) {
      log.error({ file, first, last: segment.last }, "segment left alone: another file holds the same events");
      continue;
    }
    kept.push(first > last ? one : { ...one, segment: behind(segment, last) });
    last = segment.last;
  }
  return kept;
}

function behind({ file, last, end }: Segment, before: number): Segment {
  return new Segment(file, { first: before + 1, last, end });
}

function isOurs({ segment, id, incomplete }: FoundSegment, own: readonly string[], log: Logger): boolean {
  if (id !== undefined && !own.includes(id)) {
    log.error({ file: segment.file, channel: id }, "segment of another channel left alone");
    return false;
  }
  if (incomplete > 0) {
    log.warn({ file: segment.file, bytes: incomplete }, "incomplete or damaged end of a segment left out");
  }
  return true;
}
