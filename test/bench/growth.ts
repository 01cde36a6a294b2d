import { measureBacklog } from "./growth-backlog.js";
import type { GrowthCase } from "./growth-case.js";
import { measureRows } from "./growth-rows.js";
import type { GrowthStep } from "./growth-step.js";
import { measureTables } from "./growth-tables.js";
import { type MeasureOptions, measure } from "./measure.js";

/** Does the work of one point of a curve, with a fresh agent. */
export async function measureGrowth(growth: GrowthCase, options: MeasureOptions): Promise<readonly GrowthStep[]> {
  return await measurers[growth.curve](growth, options);
}

type Measurer = (growth: GrowthCase, options: MeasureOptions) => Promise<readonly GrowthStep[]>;

const measurers = {
  tables: measureTables,
  services: measureTables,
  backlog: measureBacklog,
  rows: measureRows,
  body: async (growth, options) => await measureLoad(growth, options, { work: "kilobytes", each: growth.size / 1000 }),
  entities: async (growth, options) => await measureLoad(growth, options, { work: "entities", each: growth.size }),
} satisfies Record<GrowthCase["curve"], Measurer>;

const CONNECTIONS = 16;

/** Full load with larger notifications; `each` is what one of them holds. */
async function measureLoad(
  { bench }: GrowthCase,
  options: MeasureOptions,
  { work, each }: { readonly work: string; readonly each: number },
): Promise<readonly GrowthStep[]> {
  const { load, storedPerSecond = Number.NaN } = await measure(bench, {
    ...options,
    connections: CONNECTIONS,
    looks: 0,
  });
  const seconds = load.accepted / storedPerSecond;
  return [
    { work: "notifications stored", units: load.accepted, seconds },
    { work: `${work} stored`, units: load.accepted * each, seconds },
  ];
}
