import type { ComponentState, Snapshot } from "./contract.js";

/** One moment of the charts; absent members are not known. */
export interface Sample {
  /** Milliseconds of the clock of the agent. */
  readonly time: number;
  readonly in?: number | undefined;
  readonly out?: number | undefined;
  readonly refused?: number | undefined;
  readonly waiting?: number | undefined;
}

/** Samples that are kept: five minutes of one a second. */
const length = 300;
/** Components with samples of their own; an agent with more has them for the whole agent only. */
const mostComponents = 150;

/** The recent past, for the charts. It begins when the page is opened. */
export class History {
  readonly #samples = new Map<string, Sample[]>();

  /** Of a component, or of the whole agent. */
  of(id = ""): readonly Sample[] {
    return this.#samples.get(id) ?? [];
  }

  add({ time, components }: Snapshot): void {
    const at = Date.parse(time);
    const all = Object.entries(components);
    this.#push("", { time: at, ...totals(all.map(([, state]) => state)) });
    if (all.length > mostComponents) return;
    for (const [id, state] of all) this.#push(id, { time: at, ...ofComponent(state) });
    for (const id of this.#samples.keys()) {
      if (id !== "" && components[id] === undefined) this.#samples.delete(id);
    }
  }

  clear(): void {
    this.#samples.clear();
  }

  #push(id: string, sample: Sample): void {
    const samples = this.#samples.get(id) ?? [];
    // A topology that changes sends a moment twice.
    if (samples.at(-1)?.time === sample.time) samples.pop();
    samples.push(sample);
    if (samples.length > length) samples.shift();
    this.#samples.set(id, samples);
  }
}

/** Of the whole agent: what its sources accept, what its sinks store, what waits in its channels. */
export function totals(states: readonly ComponentState[]): Omit<Sample, "time"> {
  return {
    in: sum(states.map((state) => state.accepted_per_second)),
    out: sum(states.map((state) => state.stored_per_second)),
    refused: sum(states.filter(({ accepted }) => accepted !== undefined).map((state) => state.refused_per_second)),
    waiting: sum(states.map(({ events }) => events)),
  };
}

function ofComponent(state: ComponentState): Omit<Sample, "time"> {
  return {
    in: state.accepted_per_second ?? state.in_per_second ?? state.processed_per_second,
    out: state.out_per_second ?? state.stored_per_second,
    refused: state.refused_per_second,
    waiting: state.events,
  };
}

/** Undefined while none of the numbers is known. */
function sum(numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((one) => one !== undefined);
  return known.length === 0 ? undefined : known.reduce((total, one) => total + one, 0);
}
