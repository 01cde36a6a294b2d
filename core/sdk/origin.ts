import type { Event } from "./event.js";

/**
 * The header of an event that came from a log: `<of>:<offset>+<index>` of {@link RequestOrigin} and the place of the event in its
 * request. A channel that agents share drops an event whose origin is not beyond the last one that it had of the same `of`, and takes the
 * header away; other channels do not change it.
 * @beta
 */
export const originHeader = "deneb-origin";

/**
 * Where a request stands in the log that it was read from. Whoever gives it reads one request of a part after another, and goes on
 * only when the one before is accepted, or refused for good; it may begin again further in front.
 * @beta
 */
export interface RequestOrigin {
  /** Names a part of that log, and no other: without colon, comma and equals sign. */
  readonly of: string;
  /** A safe integer, larger than that of every request before it in the part. */
  readonly offset: number;
}

/** The events of a request, each with its origin. */
export function withOrigin(events: readonly Event[], { of, offset }: RequestOrigin): readonly Event[] {
  return events.map(({ headers, body }, index) => ({
    headers: { ...headers, [originHeader]: `${of}:${offset}+${index}` },
    body,
  }));
}
