import { performance } from "node:perf_hooks";

/** How often a step runs with one input; the shortest time counts, because others only had less of the processor. */
const MOST_RUNS = 5;
/** Milliseconds: what is faster at the largest size is no matter of growth. */
const FAST = 300;
/** Milliseconds: times below are mostly noise, and count as this. */
const NOISE = 20;
/** So many times slower than allowed is not measured again. */
const HOPELESS = 4;
/** Of eight times the input: linear is 8, quadratic 64. */
const MOST_GROWTH = 24;

const sizes = [1, 8] as const;

/** Why a step grows faster than its input; undefined when it does not. */
export function growthFault<Input>(
  inputOf: (size: number) => Input,
  run: (input: Input) => void,
  unit: number,
): string | undefined {
  const times: number[] = [];
  for (const size of sizes) {
    const input = inputOf(size * unit);
    const bound = Math.max(FAST, MOST_GROWTH * Math.max(NOISE, times[0] ?? NOISE));
    const time = shortest(() => run(input), bound);
    times.push(time);
    if (time <= bound) continue;
    const told = times.map((millis, index) => `${(sizes[index] ?? 0) * unit}: ${Math.round(millis)} ms`);
    return `grows faster than its input: ${told.join(", ")}`;
  }
  return undefined;
}

function shortest(run: () => void, enough: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MOST_RUNS && best > enough; round += 1) {
    const from = performance.now();
    run();
    best = Math.min(best, performance.now() - from);
    if (best > HOPELESS * enough) break;
  }
  return best;
}
