import {
  type AgentSetup,
  agentCase,
  type BatchSize,
  type BenchCase,
  bareHttp,
  bareSocket,
  bareSocketOf,
  byHand,
} from "./case.js";
import { type CeilingCase, ceilingCases } from "./ceiling-case.js";
import { type BodyFormat, bodyFormats } from "./forms.js";
import { type GrowthCase, growthCases } from "./growth-case.js";
import { guardForms } from "./history-line.js";
import { type ScaleCase, scaleCases } from "./scale-case.js";
import type { BenchDatabase } from "./store.js";

/** What one run of the harness measures. */
export interface BenchSet {
  readonly cases: readonly BenchCase[];
  readonly ceilings: readonly CeilingCase[];
  readonly growth: readonly GrowthCase[];
  readonly scale: readonly ScaleCase[];
}

const databases: readonly BenchDatabase[] = ["postgresql", "mysql", "sqlite"];
const channels = ["memory", "file"] as const;
const batchSizes: readonly BatchSize[] = [1, 100, 1000];
const entityCounts = [1, 100, 1000, 10_000];

const packaged = { database: "postgresql", channel: "memory", batchSize: 1, entities: 100 } as const;

/** Every database with every channel, batch size and number of tables. */
const grid = databases.flatMap((database) =>
  channels.flatMap((channel) =>
    batchSizes.flatMap((batchSize) => entityCounts.map((entities) => ({ database, channel, batchSize, entities }))),
  ),
);

/** What differs from the packaged layout, for every database. */
const variants = databases.flatMap((database): readonly AgentSetup[] => [
  { ...packaged, database, entities: 1000, model: "dm-by-entity-type" },
  { ...packaged, database, entities: 1000, model: "dm-by-entity-type", batchSize: 1000 },
  { ...packaged, database, layout: "row" },
  { ...packaged, database, layout: "row", batchSize: 1000 },
  { ...packaged, database, format: "v2" },
  { ...packaged, database, format: "v2", layout: "row" },
]);

/** Each difference once, most of them with PostgreSQL. */
const standard: readonly AgentSetup[] = [
  ...entityCounts.map((entities) => ({ ...packaged, entities })),
  { ...packaged, batchSize: 100, entities: 1 },
  { ...packaged, batchSize: 100 },
  ...entityCounts.map((entities) => ({ ...packaged, batchSize: 1000 as const, entities })),
  ...[1, 100, 1000].map((entities) => ({ ...packaged, channel: "file" as const, entities })),
  { ...packaged, channel: "file", batchSize: 1000 },
  ...variants.filter(({ database, batchSize }) => database === "postgresql" && batchSize === 1),
  ...(["mysql", "sqlite"] as const).flatMap((database): readonly AgentSetup[] => [
    ...[1, 100, 1000].map((entities) => ({ ...packaged, database, entities })),
    { ...packaged, database, batchSize: 1000 },
    { ...packaged, database, channel: "file" },
  ]),
];

/** What the table of the targets needs. */
const targets: readonly AgentSetup[] = [
  ...[1, 100, 1000].map((entities) => ({ ...packaged, entities })),
  { ...packaged, batchSize: 100, entities: 1 },
  { ...packaged, batchSize: 1000 },
  { ...packaged, channel: "file" },
  { ...packaged, channel: "file", batchSize: 1000 },
  { ...packaged, database: "sqlite" },
  { ...packaged, database: "sqlite", batchSize: 1000 },
];

/** What features of tables cost. */
const tables: readonly AgentSetup[] = [
  packaged,
  ...(["partitions", "indexes", "partitions and indexes", "geometries"] as const).map((one) => ({
    ...packaged,
    tables: one,
  })),
];

/** One agent over a log, as one process and as two workers, beside one with a file. */
const scale: readonly AgentSetup[] = [
  { ...packaged, channel: "file" },
  ...(["kafka", "jetstream"] as const).flatMap((channel) => [
    { ...packaged, channel },
    { ...packaged, channel, workers: 2 },
  ]),
];

/** One process beside several. */
const workers: readonly AgentSetup[] = channels.flatMap((channel) => [
  { ...packaged, channel },
  { ...packaged, channel, workers: 2 },
]);

/** Both channels with bodies of a form, beside the ceiling of that form. */
const formCases = (format: BodyFormat): readonly BenchCase[] => [
  bareSocketOf(format),
  ...(["memory", "file"] as const).map((channel) => agentCase({ ...packaged, channel, format })),
];

const withCeilings = (setups: readonly AgentSetup[]) => [bareHttp, byHand, ...setups.map(agentCase)];

const none: BenchSet = { cases: [], ceilings: [], growth: [], scale: [] };

/** The sets by the value of `--set`. */
const sets: Readonly<Record<string, BenchSet>> = {
  standard: { ...none, cases: withCeilings(standard), ceilings: ceilingCases },
  targets: { ...none, cases: withCeilings(targets) },
  tables: { ...none, cases: tables.map(agentCase) },
  scale: { ...none, cases: [bareSocket, ...scale.map(agentCase)], scale: scaleCases },
  workers: { ...none, cases: [bareSocket, ...workers.map(agentCase)] },
  forms: { ...none, cases: bodyFormats.flatMap(formCases) },
  guard: { ...none, cases: guardForms.flatMap(formCases) },
  ceilings: { ...none, cases: withCeilings([]), ceilings: ceilingCases },
  growth: { ...none, growth: growthCases },
  all: { ...none, cases: withCeilings([...grid, ...variants]), ceilings: ceilingCases, growth: growthCases },
};

export const setNames = Object.keys(sets);

/** What the sets hold together, and further cases; throws for an unknown one. */
export function setOf(names: readonly string[], more: readonly BenchCase[] = []): BenchSet {
  const chosen = names.map((name) => {
    const set = Object.hasOwn(sets, name) ? sets[name] : undefined;
    if (set === undefined) throw new Error(`--set is "${name}"; write one of ${setNames.join(", ")}`);
    return set;
  });
  return {
    cases: eachOnce([...chosen.flatMap(({ cases }) => cases), ...more]),
    ceilings: eachOnce(chosen.flatMap(({ ceilings }) => ceilings)),
    growth: eachOnce(chosen.flatMap(({ growth }) => growth)),
    scale: eachOnce(chosen.flatMap(({ scale }) => scale)),
  };
}

function eachOnce<T extends { readonly name: string }>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((one) => [one.name, one])).values()];
}
