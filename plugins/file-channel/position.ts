import { DoneRanges, type Range } from "./done-ranges.js";

/** `channel-id:low` or, when others are still at work, `channel-id:low,from-to,from-to`. */
export function positionText(id: string, { low, ranges }: Pick<DoneRanges, "low" | "ranges">): string {
  return [`${id}:${low}`, ...ranges.map(({ from, to }) => `${from}-${to}`)].join(",");
}

/** What a position says is done; undefined when it is of another channel or not a position. */
export function doneBefore(id: string, position: string): DoneRanges | undefined {
  const match = /^([^:]+):(\d+)((?:,\d+-\d+)*)$/.exec(position);
  if (match === null || match[1] !== id) return undefined;
  return new DoneRanges(Number(match[2]), rangesIn(match[3] ?? ""));
}

function rangesIn(text: string): readonly Range[] {
  return [...text.matchAll(/(\d+)-(\d+)/g)].map(([, from, to]) => ({ from: Number(from), to: Number(to) }));
}
