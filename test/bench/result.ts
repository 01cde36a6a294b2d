import type { BenchCase } from "./case.js";
import type { CeilingCase } from "./ceiling-case.js";
import type { GrowthCase } from "./growth-case.js";
import type { GrowthStep } from "./growth-step.js";
import type { Measurement } from "./measure.js";
import type { ScaleCase, ScaleFigure } from "./scale-case.js";

/** The runs of one thing that was measured; what could not be measured has a reason instead. */
export interface Result<Subject, Run> {
  readonly subject: Subject;
  readonly runs: readonly Run[];
  readonly failure?: string;
}

export type CaseResult = Result<BenchCase, Measurement>;
/** Runs in rows per second. */
export type CeilingResult = Result<CeilingCase, number>;
/** One run with the steps of the point. */
export type GrowthResult = Result<GrowthCase, readonly GrowthStep[]>;

export type ScaleResult = Result<ScaleCase, readonly ScaleFigure[]>;

/** Everything that one call of the harness measured. */
export interface BenchResults {
  readonly cases: readonly CaseResult[];
  readonly ceilings: readonly CeilingResult[];
  readonly growth: readonly GrowthResult[];
  readonly scale: readonly ScaleResult[];
}
