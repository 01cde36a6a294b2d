import { FailureLog } from "../../sdk/failure-log.js";
import type { Logger } from "../../sdk/index.js";
import type { FailureState } from "../failure-state.js";
import { heardByMany } from "../supervision.js";
import { intervalOf, type RetryPolicy, wait } from "./retry-policy.js";

/** A sink that may keep positions with the data. */
export interface PositionKeeper {
  readonly name: string;
  readonly sink: {
    storedPositions(signal: AbortSignal): Promise<readonly string[]>;
    readonly health?: FailureState;
  };
}

export interface AskedPositionsParts {
  /** All that a feed may deliver to. */
  readonly keepers: readonly PositionKeeper[];
  /**
   * When to go on without the keepers that cannot tell, as soon as one has told: after this number of milliseconds, or at once
   * while the channel is empty. Absent: all are waited for.
   */
  readonly timeLimit?: { readonly milliseconds: number; readonly channel: { readonly size: number | undefined } };
  readonly retry: RetryPolicy;
  readonly log: Logger;
}

/** Asks sinks for the positions they have stored, each for as long as its store cannot tell. */
export class AskedPositions {
  readonly #parts: AskedPositionsParts;
  /** By sink. */
  readonly #failures = new Map<string, FailureLog>();

  constructor(parts: AskedPositionsParts) {
    this.#parts = parts;
  }

  /** What the keepers told when all have, or when the time limit is over and at least one has; what is there at an abort. */
  async told(signal: AbortSignal): Promise<ReadonlyMap<PositionKeeper, readonly string[]>> {
    const { keepers, timeLimit, log } = this.#parts;
    const told = new Map<PositionKeeper, readonly string[]>();
    const enough = new AbortController();
    const asking = heardByMany(AbortSignal.any([signal, enough.signal]));
    let late = false;
    const judge = () => {
      if (told.size === keepers.length || (late && told.size > 0)) enough.abort();
    };
    const end = () => {
      late = true;
      judge();
    };
    // Nothing that waits in it could be stored already.
    const isEmpty = timeLimit?.channel.size === 0;
    const milliseconds = isEmpty ? 0 : timeLimit?.milliseconds;
    const timer = milliseconds === undefined ? undefined : setTimeout(end, milliseconds);
    try {
      judge();
      const asked = keepers.map(async (keeper) => {
        const positions = await this.#ask(keeper, asking);
        if (positions === undefined) return;
        told.set(keeper, positions);
        judge();
      });
      await Promise.all(asked);
    } finally {
      clearTimeout(timer);
    }
    const silent = keepers.filter((keeper) => !told.has(keeper)).map(({ name }) => name);
    if (silent.length > 0 && !isEmpty && !signal.aborted) {
      log.warn(
        { sinks: silent },
        "going on without sinks that cannot tell what they have stored: rows may be there twice",
      );
    }
    return told;
  }

  /** Undefined when the signal aborts first. */
  async #ask({ name, sink }: PositionKeeper, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const { retry, log } = this.#parts;
    for (let attempt = 1; !signal.aborted; attempt += 1) {
      try {
        const positions = await sink.storedPositions(signal);
        this.#failures.get(name)?.works({ sink: name });
        return positions;
      } catch (error) {
        if (signal.aborted) return undefined;
        sink.health?.failed(error);
        const failures = this.#failures.get(name) ?? new FailureLog(log, "what is stored already is read again");
        this.#failures.set(name, failures);
        const message = "what is stored already cannot be read, will be tried again";
        failures.failed("warn", error, { message, fields: { sink: name } });
        await wait(intervalOf(retry, attempt), signal);
      }
    }
    return undefined;
  }
}
