import { type BodyFormat, forms } from "./forms.js";
import type { LogEngine } from "./log-engine.js";
import type { BodyShape } from "./notifications.js";
import type { OriginalOrder } from "./original.js";
import type { LoadBodies } from "./requests.js";
import type { BenchDatabase } from "./store.js";

/** One row of the table: a system under load. */
export interface BenchCase {
  readonly name: string;
  /** What is measured: the agent, what a user would write by hand, a bare server, or the original by its command. */
  readonly system: "agent" | "by-hand" | "bare-http" | "bare-socket" | "original";
  readonly bodies: LoadBodies;
  readonly database: BenchDatabase;
  readonly channel: BenchChannel;
  /** Further properties of the sink. */
  readonly sink: Readonly<Record<string, string>>;
  /** Further properties of the channel. */
  readonly buffer: Readonly<Record<string, string>>;
  /** Further options of the agent; none when absent. */
  readonly flags?: readonly string[];
  /** How the original is started; absent for everything else. */
  readonly original?: OriginalOrder;
}

/** A case whose bodies the harness makes. */
export interface MadeCase extends BenchCase {
  readonly bodies: BodyShape;
}

export type BenchChannel = "memory" | "file" | LogEngine;

export type BatchSize = 1 | 100 | 1000;

export const databaseNames = { postgresql: "PostgreSQL", mysql: "MariaDB", sqlite: "embedded" } as const;

/** What the agent is measured with; what is absent is packaged: NGSI-LD, dm-by-entity, the column layout. */
export interface AgentSetup {
  readonly database: BenchDatabase;
  readonly channel: BenchChannel;
  readonly batchSize: BatchSize;
  readonly entities: number;
  readonly format?: BodyFormat;
  readonly layout?: "row";
  readonly model?: "dm-by-entity-type";
  readonly tables?: TableFeature;
  /** Processes that receive and store; absent: the agent is one process. */
  readonly workers?: number;
}

/** What tables have beside plain columns of text. */
export type TableFeature = keyof typeof tableFeatures;

const tableFeatures = {
  partitions: { partition: "day" },
  indexes: { indexes: "true" },
  "partitions and indexes": { partition: "day", indexes: "true" },
  geometries: { attr_geometry: "true" },
} as const;

/** Batch size 1 has the rest of the packaged setup too; larger ones have a channel that can hold such batches. */
export function agentCase(setup: AgentSetup): MadeCase {
  const { database, channel, batchSize, entities, format, layout, model, tables, workers } = setup;
  const size = `batch_size ${batchSize}${batchSize === 1 ? " (packaged)" : ""}`;
  const many = `${entities.toLocaleString("en")} ${model === undefined ? "table" : "entit"}`;
  const ending = model === undefined ? (entities === 1 ? "" : "s") : entities === 1 ? "y" : "ies";
  const differences = [
    forms[format ?? "ld"].words,
    layout === "row" ? "row layout" : "",
    model ?? "",
    tables ?? "",
    workers === undefined ? "" : `${workers} workers`,
  ];
  const parts = [databaseNames[database], `${channel} channel`, size, `${many}${ending}`, ...differences];
  return {
    name: parts.filter((part) => part !== "").join(", "),
    system: "agent",
    bodies: { format: format ?? "ld", entities },
    database,
    channel,
    sink: { ...sinks[batchSize], ...propertiesOf(setup) },
    buffer: channel === "memory" ? buffers[batchSize] : {},
    ...(workers === undefined ? {} : { flags: ["--workers", String(workers)] }),
  };
}

function propertiesOf({ layout, model, tables }: AgentSetup): Readonly<Record<string, string>> {
  return {
    ...(layout === undefined ? {} : { attr_persistence: layout }),
    ...(model === undefined ? {} : { data_model: model }),
    ...(tables === undefined ? {} : tableFeatures[tables]),
  };
}

const retries = { batch_ttl: "10", batch_retry_intervals: "5000" };

const sinks = {
  1: { ...retries, batch_size: "1", batch_timeout: "30" },
  100: { ...retries, batch_size: "100", batch_timeout: "1" },
  1000: { ...retries, batch_size: "1000", batch_timeout: "1" },
} satisfies Record<BatchSize, Record<string, string>>;

const large = { capacity: "100000", transactionCapacity: "1000" };

const buffers = {
  1: { capacity: "1000", transactionCapacity: "100" },
  100: large,
  1000: large,
} satisfies Record<BatchSize, Record<string, string>>;

const ceiling = {
  bodies: { format: "ld", entities: 100 },
  database: "postgresql",
  channel: "memory",
  sink: {},
  buffer: {},
} as const;

/** The most that one process of Node can take in. */
export const bareHttp: BenchCase = {
  ...ceiling,
  name: "bare node:http with JSON.parse, nothing stored",
  system: "bare-http",
};

/** The most that one process of Node can take in without its HTTP parser, as the agent does, of bodies of one form. */
export function bareSocketOf(format: BodyFormat): BenchCase {
  const { words } = forms[format];
  const name = `bare node:net with JSON.parse, nothing stored${words === "" ? "" : `, ${words}`}`;
  return { ...ceiling, name, system: "bare-socket", bodies: { format, entities: 100 } };
}

export const bareSocket = bareSocketOf("ld");

/** What a user would write instead of the agent. */
export const byHand: BenchCase = {
  ...ceiling,
  name: "by hand: express, pg, one INSERT before the answer",
  system: "by-hand",
};
