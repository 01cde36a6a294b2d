import type { BodyShape } from "./notifications.js";
import type { BenchDatabase } from "./store.js";

/** One row of the table: a system under load. */
export interface BenchCase {
  readonly name: string;
  /** What is measured: the agent, what a user would write by hand, or bare node:http. */
  readonly system: "agent" | "by-hand" | "bare-http";
  readonly bodies: BodyShape;
  readonly database: BenchDatabase;
  readonly channel: "memory" | "file";
  /** Further properties of the sink. */
  readonly sink: Readonly<Record<string, string>>;
  /** Further properties of the channel. */
  readonly buffer: Readonly<Record<string, string>>;
}

export type BatchSize = 1 | 100 | 1000;

export const databaseNames = { postgresql: "PostgreSQL", mysql: "MariaDB", sqlite: "embedded" } as const;

/** What the agent is measured with; what is absent is packaged: NGSI-LD, dm-by-entity, the column layout. */
export interface AgentSetup {
  readonly database: BenchDatabase;
  readonly channel: "memory" | "file";
  readonly batchSize: BatchSize;
  readonly entities: number;
  readonly format?: "v2";
  readonly layout?: "row";
  readonly model?: "dm-by-entity-type";
}

/** Batch size 1 has the rest of the packaged setup too; larger ones have a channel that can hold such batches. */
export function agentCase(setup: AgentSetup): BenchCase {
  const { database, channel, batchSize, entities, format, layout, model } = setup;
  const size = `batch_size ${batchSize}${batchSize === 1 ? " (packaged)" : ""}`;
  const many = `${entities.toLocaleString("en")} ${model === undefined ? "table" : "entit"}`;
  const ending = model === undefined ? (entities === 1 ? "" : "s") : entities === 1 ? "y" : "ies";
  const differences = [format === "v2" ? "NGSI v2" : "", layout === "row" ? "row layout" : "", model ?? ""];
  const parts = [databaseNames[database], `${channel} channel`, size, `${many}${ending}`, ...differences];
  return {
    name: parts.filter((part) => part !== "").join(", "),
    system: "agent",
    bodies: { format: format ?? "ld", entities },
    database,
    channel,
    sink: {
      ...sinks[batchSize],
      ...(layout === undefined ? {} : { attr_persistence: layout }),
      ...(model === undefined ? {} : { data_model: model }),
    },
    buffer: channel === "file" ? {} : buffers[batchSize],
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

/** What a user would write instead of the agent. */
export const byHand: BenchCase = {
  ...ceiling,
  name: "by hand: express, pg, one INSERT before the answer",
  system: "by-hand",
};
