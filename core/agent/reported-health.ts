import { FailureState } from "../pipeline/failure-state.js";
import type { HealthReport } from "../sdk/index.js";
import type { Clock } from "../tokens.js";

/** What a component, or one nested in it, says about itself. */
interface Reported {
  readonly name: string;
  readonly state: "degraded" | "down";
  readonly reason: string;
  readonly since: Date;
  readonly lasting: boolean;
}

const LONGEST_REASON = 500;

/** The latest reports of a component and of those nested in it, by name. */
export class ReportedHealth {
  readonly #clock: Clock;
  readonly #reports = new Map<string, Reported>();
  readonly #strays = new Map<string, FailureState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get all(): readonly Reported[] {
    return [...this.#reports.values()];
  }

  /** The `report` of a context. */
  of(name: string): (health: HealthReport) => void {
    return ({ state, reason, lasting = false }) => {
      const before = this.#reports.get(name);
      if (state !== "degraded" && state !== "down") this.#reports.delete(name);
      else {
        const since = before?.state === state ? before.since : this.#clock.now();
        const said = String(reason ?? `it reports that it is ${state}`).slice(0, LONGEST_REASON);
        this.#reports.set(name, { name, state, reason: said, since, lasting });
      }
    };
  }

  /** Errors outside of any call, by component. */
  get strays(): ReadonlyMap<string, FailureState> {
    return this.#strays;
  }

  /** An error of a component that its plugin did not catch. */
  strayed(name: string, error: unknown): void {
    const state = this.#strays.get(name) ?? new FailureState(this.#clock);
    this.#strays.set(name, state);
    state.failed(error);
  }

  clear(): void {
    this.#reports.clear();
    this.#strays.clear();
  }
}
