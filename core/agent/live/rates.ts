/** Counts that only grow, except when somebody sets them to zero. */
type Counts = Readonly<Record<string, number>>;

interface Measured {
  readonly at: number;
  readonly counts: Counts;
}

/** Events a second of things that count, from one look to the next. */
export class Rates {
  readonly #measured = new WeakMap<object, Measured>();

  /** Since the last look at the same thing, `<name>_per_second` each; nothing at the first look. */
  of(thing: object, counts: Counts, now: number): Counts {
    const before = this.#measured.get(thing);
    this.#measured.set(thing, { at: now, counts });
    if (before === undefined || now <= before.at) return {};
    const seconds = (now - before.at) / 1000;
    return Object.fromEntries(
      Object.entries(counts).map(([name, count]) => {
        const last = before.counts[name] ?? 0;
        return [`${name}_per_second`, rounded((count < last ? count : count - last) / seconds, 3)];
      }),
    );
  }
}

/** Milliseconds over which the inflow of a channel is averaged. */
const AVERAGED = 10_000;
/** A channel that would be full later than that is not said to fill. */
const LONGEST_SECONDS = 30 * 86_400;

interface Level {
  readonly at: number;
  readonly size: number;
  /** Events a second that come in more than go out. */
  readonly inflow: number;
}

/** Tells when channels will be full, if they fill as they did in the last seconds. */
export class Filling {
  readonly #levels = new WeakMap<object, Level>();

  /** Seconds until the thing holds as many as it can; undefined while it does not fill. */
  secondsUntilFull(thing: object, { size, capacity }: Fill, now: number): number | undefined {
    const before = this.#levels.get(thing);
    const level = before === undefined ? { at: now, size, inflow: 0 } : next(before, size, now);
    this.#levels.set(thing, level);
    if (size >= capacity) return 0;
    if (level.inflow <= 0) return undefined;
    const seconds = (capacity - size) / level.inflow;
    return seconds > LONGEST_SECONDS ? undefined : rounded(seconds, 2);
  }
}

interface Fill {
  readonly size: number;
  readonly capacity: number;
}

function next(before: Level, size: number, now: number): Level {
  const passed = now - before.at;
  if (passed <= 0) return before;
  const weight = 1 - Math.exp(-passed / AVERAGED);
  const inflow = ((size - before.size) * 1000) / passed;
  return { at: now, size, inflow: before.inflow + weight * (inflow - before.inflow) };
}

/** The value with that number of significant digits; whole numbers stay whole. */
export function rounded(value: number, digits: number): number {
  return value >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits));
}
