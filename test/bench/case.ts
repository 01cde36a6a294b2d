import type { BodyFormat } from "./notifications.js";

/** One row of the table: a system under load. */
export interface BenchCase {
  readonly name: string;
  /** What is measured: the agent, what a user would write by hand, or bare node:http. */
  readonly system: "agent" | "by-hand" | "bare-http";
  readonly entities: number;
  readonly format: BodyFormat;
  readonly dialect: "postgresql" | "sqlite";
  readonly channel: "memory" | "file";
  /** Further properties of the sink. */
  readonly sink: Readonly<Record<string, string>>;
  /** Further properties of the channel. */
  readonly buffer: Readonly<Record<string, string>>;
}

const packaged = { batch_size: "1", batch_timeout: "30", batch_ttl: "10", batch_retry_intervals: "5000" };
const packagedBuffer = { capacity: "1000", transactionCapacity: "100" };
const large = { ...packaged, batch_size: "1000", batch_timeout: "1" };
const largeBuffer = { capacity: "100000", transactionCapacity: "1000" };

const base: BenchCase = {
  name: "",
  system: "agent",
  entities: 100,
  format: "ld",
  dialect: "postgresql",
  channel: "memory",
  sink: packaged,
  buffer: packagedBuffer,
};

/** Every case, the ceilings first. */
export const cases: readonly BenchCase[] = [
  { ...base, name: "bare node:http with JSON.parse, nothing stored", system: "bare-http" },
  { ...base, name: "by hand: express, pg, one INSERT before the answer", system: "by-hand" },
  { ...base, name: "packaged, 1 table", entities: 1 },
  { ...base, name: "packaged, 100 tables" },
  { ...base, name: "packaged, 1,000 tables", entities: 1000 },
  { ...base, name: "packaged, 10,000 tables", entities: 10_000 },
  { ...base, name: "batch_size 1000, 1 table", entities: 1, sink: large, buffer: largeBuffer },
  { ...base, name: "batch_size 1000, 100 tables", sink: large, buffer: largeBuffer },
  { ...base, name: "batch_size 1000, 1,000 tables", entities: 1000, sink: large, buffer: largeBuffer },
  {
    ...base,
    name: "dm-by-entity-type, 1,000 entities",
    entities: 1000,
    sink: { ...packaged, data_model: "dm-by-entity-type" },
    buffer: largeBuffer,
  },
  { ...base, name: "row layout, 100 tables", sink: { ...packaged, attr_persistence: "row" } },
  { ...base, name: "file channel, 100 tables", channel: "file", buffer: {} },
  { ...base, name: "file channel, 1,000 tables", entities: 1000, channel: "file", buffer: {} },
  { ...base, name: "NGSI v2, row layout, 100 tables", format: "v2", sink: { ...packaged, attr_persistence: "row" } },
  { ...base, name: "embedded database, 1 table", dialect: "sqlite", entities: 1 },
  { ...base, name: "embedded database, 100 tables", dialect: "sqlite" },
  { ...base, name: "embedded database, 1,000 tables", dialect: "sqlite", entities: 1000 },
];
