/** How often a step runs with one input; the shortest time counts, because in others more of it was not its own. */
const MOST_RUNS = 5;
/** Milliseconds: what is faster at the largest size is no matter of growth. */
const FAST = 300;
/** Milliseconds: times below are mostly noise, and count as this. */
const NOISE = 20;
/** Milliseconds: a step that is slower with the smallest input is not tried with the largest. */
const ENDLESS = 20_000;
/** So many times slower than allowed is not measured again. */
const HOPELESS = 2;
/** Of eight times the input: linear is 8, quadratic 64. */
const MOST_GROWTH = 24;
const LARGER = 8;

/**
 * Why a step grows faster than its input; undefined when it does not. Compared are two processor times of one machine,
 * however slow it is.
 */
export async function growthFault<Input>(
  inputOf: (size: number) => Input,
  run: (input: Input) => void | Promise<void>,
  unit: number,
): Promise<string | undefined> {
  const timeOf = async (size: number, bound: number) => {
    const input = inputOf(size);
    return await shortest(() => run(input), bound);
  };
  const small = await timeOf(unit, ENDLESS);
  if (small > ENDLESS) return `takes ${Math.round(small)} ms for ${unit}`;
  const bound = Math.max(FAST, MOST_GROWTH * Math.max(NOISE, small));
  const large = await timeOf(LARGER * unit, bound);
  if (large <= bound) return undefined;
  return `grows faster than its input: ${unit}: ${Math.round(small)} ms, ${LARGER * unit}: ${Math.round(large)} ms`;
}

async function shortest(run: () => void | Promise<void>, enough: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MOST_RUNS && best > enough; round += 1) {
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
    if (best > HOPELESS * enough) break;
  }
  return best;
}
