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

/** Milliseconds that are kept. A page that nobody saw meanwhile has heard nothing: what is older would be drawn beside them. */
const span = 300_000;
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
    const shown = all.length > mostComponents ? [] : all;
    for (const [id, state] of shown) this.#push(id, { time: at, ...ofComponent(state) });
    for (const id of this.#samples.keys()) {
      if (id !== "" && (shown.length === 0 || components[id] === undefined)) this.#samples.delete(id);
    }
  }

  clear(): void {
    this.#samples.clear();
  }

  #push(id: string, sample: Sample): void {
    // A topology that changes sends a moment twice, and a clock that was set back sends some again.
    const before = (this.#samples.get(id) ?? []).filter(({ time }) => time < sample.time && time >= sample.time - span);
    this.#samples.set(id, [...before, sample]);
  }
}

/** Of the whole agent: what its sources accept, what its sinks store, what waits in its channels. */
function totals(states: readonly ComponentState[]): Omit<Sample, "time"> {
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
