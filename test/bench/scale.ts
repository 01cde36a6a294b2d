import type { MeasureOptions } from "./measure.js";
import type { ScaleCase, ScaleFigure } from "./scale-case.js";
import { measureShared } from "./scale-load.js";
import { measurePartitions } from "./scale-partitions.js";
import { measureTakeover } from "./scale-takeover.js";

/** Does one of them, with fresh agents and a fresh log. */
export async function measureScale(scale: ScaleCase, options: MeasureOptions): Promise<readonly ScaleFigure[]> {
  return await measurers[scale.kind](scale, options);
}

type Measurer = (scale: ScaleCase, options: MeasureOptions) => Promise<readonly ScaleFigure[]>;

const measurers = {
  "two agents": async (scale, options) => await measureShared(scale, options, ["both", "both"]),
  stages: async (scale, options) => await measureShared(scale, options, ["receives", "stores"]),
  takeover: measureTakeover,
  partitions: measurePartitions,
} satisfies Record<ScaleCase["kind"], Measurer>;
