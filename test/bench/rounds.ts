import { measureCeiling } from "./ceiling-case.js";
import { measureGrowth } from "./growth.js";
import { type MeasureOptions, measure } from "./measure.js";
import type { BenchResults, Result } from "./result.js";
import { measureScale } from "./scale.js";
import type { BenchSet } from "./sets.js";

export interface RoundOptions extends MeasureOptions {
  readonly runs: number;
  /** Ends the rounds before the next thing is measured. */
  readonly signal: AbortSignal;
  /** Told what begins now. */
  readonly say: (what: string) => void;
}

/**
 * Measures everything of the set: round by round, so that a machine that grows slower does so for every case, and the
 * points of growth once behind that. What fails once is not tried again.
 */
export async function measureRounds(set: BenchSet, options: RoundOptions): Promise<BenchResults> {
  let { cases, ceilings, growth, scale }: BenchResults = {
    cases: set.cases.map(unmeasured),
    ceilings: set.ceilings.map(unmeasured),
    growth: set.growth.map(unmeasured),
    scale: set.scale.map(unmeasured),
  };
  for (let round = 1; round <= options.runs; round += 1) {
    const say = (name: string) => options.say(`run ${round} of ${options.runs}: ${name}`);
    ceilings = await oneMore(
      ceilings,
      { ...options, say },
      async (ceiling) => await measureCeiling(ceiling, options.seconds),
    );
    cases = await oneMore(cases, { ...options, say }, async (bench) => await measure(bench, options));
    scale = await oneMore(scale, { ...options, say }, async (several) => await measureScale(several, options));
  }
  growth = await oneMore(growth, options, async (point) => await measureGrowth(point, options));
  return { cases, ceilings, growth, scale };
}

function unmeasured<Subject>(subject: Subject): { readonly subject: Subject; readonly runs: readonly never[] } {
  return { subject, runs: [] };
}

/** The results with one more run each, one after the other. */
async function oneMore<Subject extends { readonly name: string }, Run>(
  results: readonly Result<Subject, Run>[],
  { say, signal }: Pick<RoundOptions, "say" | "signal">,
  run: (subject: Subject) => Promise<Run>,
): Promise<readonly Result<Subject, Run>[]> {
  const more: Result<Subject, Run>[] = [];
  for (const result of results) {
    if (result.failure !== undefined || signal.aborted) {
      more.push(result);
      continue;
    }
    say(result.subject.name);
    try {
      more.push({ ...result, runs: [...result.runs, await run(result.subject)] });
    } catch (error) {
      more.push({ ...result, failure: error instanceof Error ? error.message : String(error) });
    }
  }
  return more;
}
