import { type Logger, reasonOf, type Sink } from "../sdk/index.js";
import { intervalOf, type RetryPolicy } from "./delivery.js";
import type { PositionGate } from "./position-gate.js";
import { wait } from "./wait.js";

export interface PositionKeeper {
  readonly name: string;
  readonly sink: Pick<Sink, "storedPositions">;
}

export interface CatchUpParts {
  /** All that this runner may deliver to. */
  readonly keepers: readonly PositionKeeper[];
  /**
   * Milliseconds after which it goes on without those that could not tell, as soon as one has told; asked when it begins.
   * Absent: it waits for all of them.
   */
  readonly patience?: () => number;
  readonly gate: PositionGate;
  readonly retry: RetryPolicy;
  readonly log: Logger;
}

/**
 * The first thing a runner does: it asks its sinks for the positions kept with the data, for as long as a store cannot
 * tell, and waits until the other sinks of the channel have told theirs. False when the signal aborts first.
 */
export function catchUpOf(parts: CatchUpParts): (signal: AbortSignal) => Promise<boolean> {
  parts.gate.join();
  return (signal) => catchUp(parts, signal);
}

async function catchUp({ gate, ...asked }: CatchUpParts, signal: AbortSignal): Promise<boolean> {
  const failing = new Map<string, string>();
  for (;;) {
    const positions = await allPositions(asked, failing, signal);
    if (signal.aborted) return false;
    try {
      return await gate.arrive(positions, signal);
    } catch (error) {
      asked.log.error({ reason: reasonOf(error) }, "what is stored already cannot be left out, will be tried again");
      if (!(await wait(intervalOf(asked.retry.batchRetryIntervals, 1), signal))) return false;
    }
  }
}

type Asked = Omit<CatchUpParts, "gate">;

/** What the keepers told when all have, or when the patience is over and at least one has. */
async function allPositions(
  { keepers, patience, retry, log }: Asked,
  failing: Map<string, string>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const told = new Map<string, readonly string[]>();
  const enough = new AbortController();
  const asking = AbortSignal.any([signal, enough.signal]);
  let late = false;
  const judge = () => {
    if (told.size === keepers.length || (late && told.size > 0)) enough.abort();
  };
  const end = () => {
    late = true;
    judge();
  };
  const timer = patience === undefined ? undefined : setTimeout(end, patience());
  const ask = async ({ name, sink }: PositionKeeper) => {
    for (let attempt = 1; !asking.aborted; attempt += 1) {
      try {
        told.set(name, (await sink.storedPositions?.(asking)) ?? []);
        return judge();
      } catch (error) {
        const reason = reasonOf(error);
        if (asking.aborted) return;
        const fields = { sink: name, reason };
        if (failing.get(name) !== reason)
          log.warn(fields, "what is stored already cannot be read, will be tried again");
        failing.set(name, reason);
        await wait(intervalOf(retry.batchRetryIntervals, attempt), asking);
      }
    }
  };
  try {
    judge();
    await Promise.all(keepers.map(ask));
  } finally {
    clearTimeout(timer);
  }
  const silent = keepers.filter(({ name }) => !told.has(name)).map(({ name }) => name);
  if (silent.length > 0 && !signal.aborted) {
    log.warn(
      { sinks: silent },
      "going on without sinks that cannot tell what they have stored: rows may be there twice",
    );
  }
  return [...told.values()].flat();
}
