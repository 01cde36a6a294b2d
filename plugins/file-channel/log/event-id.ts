import type { LogState } from "./restore.js";

/** Names an event over all runs of its channel. */
export function idOf({ id }: Pick<LogState, "id">, sequence: number): string {
  return `${id}-${sequence}`;
}

/** The sequence number in such an id, or one that begins so; none in an id of another channel. */
export function sequencesIn(
  text: string,
  { id, formerIds, next }: Pick<LogState, "id" | "formerIds" | "next">,
): readonly number[] {
  const [, channel = "", sequence = ""] = /^([0-9a-f]+)-(\d+)(?:-|$)/.exec(text) ?? [];
  const isOwn = sequence !== "" && [id, ...formerIds].includes(channel);
  return isOwn && Number(sequence) < next ? [Number(sequence)] : [];
}
