import type { DeadLetters } from "../../pipeline/dead-letters/dead-letters.js";
import type { Ledger } from "../../pipeline/ledger.js";
import type { Logger } from "../../sdk/index.js";
import type { Agent } from "../agent.js";
import { ledgerSnapshot, steadyBooks } from "../state/ledger-snapshot.js";
import { type Verification, verification } from "./verification.js";

/** Milliseconds that the stores have to answer. */
const LONGEST = 30_000;
const INTERVAL = 60_000;

interface VerifierParts {
  readonly agent: Agent;
  readonly ledger: Ledger;
  readonly letters: Pick<DeadLetters, "counts">;
  readonly log: Logger;
}

/** Compares the ledger with the channels each minute, and with the stores when it is asked to. */
export class Verifier {
  readonly #parts: VerifierParts;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<Verification> | undefined;
  /** By channel: what was unaccounted for at the last check. */
  #unaccounted: ReadonlyMap<string, number | undefined> = new Map();
  /** By channel: the difference that was last logged. */
  readonly #told = new Map<string, number>();

  constructor(parts: VerifierParts) {
    this.#parts = parts;
  }

  start(): void {
    void this.check();
    this.#timer ??= setInterval(() => void this.check(), INTERVAL).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** One at a time: callers share a run. */
  async verify(): Promise<Verification> {
    const { agent, ledger, letters } = this.#parts;
    const deadLetters = (sink: string) => letters.counts().find((one) => one.sink === sink);
    const open = (sink: string) => (deadLetters(sink)?.waiting ?? 0) + (deadLetters(sink)?.replaying ?? 0);
    const parts = { agent, ledger, deadLetters: open };
    this.#running ??= verification(parts, AbortSignal.timeout(LONGEST)).finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  /**
   * What differs for a moment is different at the next check. Under a load that comes in equal steps it may be the same, so the
   * books are read several times.
   */
  async check(): Promise<void> {
    const { agent, ledger, log } = this.#parts;
    const channels = await steadyBooks(() => ledgerSnapshot(agent.assembly.channels, ledger).channels);
    const now = new Map(channels.map(({ name, unaccounted }) => [name, unaccounted]));
    for (const { name, sinks: _, ...books } of channels) {
      const { unaccounted = 0 } = books;
      const told = this.#told.get(name);
      if (unaccounted === 0 && told !== undefined) {
        this.#told.delete(name);
        log.info({ channel: name }, "the ledger agrees with the channel again");
      }
      if (unaccounted === 0 || unaccounted === told || this.#unaccounted.get(name) !== unaccounted) continue;
      this.#told.set(name, unaccounted);
      log.warn({ channel: name, ...books }, "the ledger does not agree with the channel; see deneb verify");
    }
    this.#unaccounted = now;
  }
}
