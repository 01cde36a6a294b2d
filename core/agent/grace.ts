import { heardByMany } from "../pipeline/supervision.js";
import { onAbort } from "../sdk/index.js";

/** Milliseconds after the grace period in which sources answer what was abandoned. */
const LAST_ANSWERS = 500;
/**
 * Milliseconds that a replacement has when a stop waits for it: a write that is running ends. Ended from here it may be committed
 * nevertheless, and stored again behind a channel without positions.
 */
const HURRIED = 5_000;

/** Does a part of the work with a signal that aborts when its grace period is over. */
export type Phase = (part: (grace: AbortSignal) => Promise<void>) => Promise<void>;

export const nobodyAsks: AbortSignal = new AbortController().signal;

/** With a signal that aborts a moment after the grace period: until then what was abandoned is answered. */
export async function withLast(grace: AbortSignal, work: (last: AbortSignal) => Promise<void>): Promise<void> {
  const last = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const forget = onAbort(grace, () => {
    timer = setTimeout(() => last.abort(), LAST_ANSWERS);
  });
  try {
    await work(heardByMany(last.signal));
  } finally {
    forget();
    clearTimeout(timer);
  }
}

/** With a signal that aborts when the grace period is over, or with `end`. */
export async function withGrace(
  milliseconds: number,
  work: (grace: AbortSignal) => Promise<void>,
  end = nobodyAsks,
): Promise<void> {
  const grace = new AbortController();
  const timer = setTimeout(() => grace.abort(), milliseconds);
  const stopListening = onAbort(end, () => grace.abort());
  try {
    await work(heardByMany(grace.signal));
  } finally {
    stopListening();
    clearTimeout(timer);
  }
}

/** Work of some phases, each with a grace period of its own, which is over for all of them a few seconds after `hurried` aborts. */
export async function inPhases(
  milliseconds: number,
  work: (phase: Phase) => Promise<void>,
  hurried = nobodyAsks,
): Promise<void> {
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const stopListening = onAbort(hurried, () => {
    timer = setTimeout(() => end.abort(), Math.min(HURRIED, milliseconds));
  });
  try {
    await work((part) => withGrace(milliseconds, part, end.signal));
  } finally {
    stopListening();
    clearTimeout(timer);
  }
}
