import { agentCase, type MadeCase } from "./case.js";

/** One point of a curve: the same work, more of it. */
export interface GrowthCase {
  readonly name: string;
  /** The curve it belongs to. */
  readonly curve: "tables" | "services" | "backlog" | "body" | "entities" | "rows";
  /** Tables, services, events, bytes of a body, entities of a notification, rows in all tables. */
  readonly size: number;
  readonly bench: MadeCase;
  /** Only measured with `--huge`. */
  readonly huge?: true;
}

const { buffer, ...base } = agentCase({ database: "postgresql", channel: "memory", batchSize: 1000, entities: 1 });

/** A write takes what waits: no point waits for a full batch in the end. */
const sink = { ...base.sink, batch_size: "1" };
const ready = { ...base, sink };

const count = (size: number) => size.toLocaleString("en");

const tables = [1000, 10_000, 100_000].map((size): GrowthCase => {
  const bench = { ...ready, buffer, bodies: { format: "ld" as const, entities: size } };
  return { name: `growth: ${count(size)} distinct tables`, curve: "tables", size, bench };
});

/** As many tables in all: what grows is the number of schemas. */
const TABLES_OF_SERVICES = 10_000;

const services = [1, 100, 1000].map((size): GrowthCase => {
  const bodies = { format: "ld" as const, entities: TABLES_OF_SERVICES, services: size };
  const name = `growth: ${count(TABLES_OF_SERVICES)} tables of ${count(size)} services`;
  return { name, curve: "services", size, bench: { ...ready, buffer, bodies } };
});

const CAPACITY = { capacity: "20000000", byteCapacity: "40000000000" };

/** One table: what grows is the channel. */
const backlog = [100_000, 1_000_000, 10_000_000].map((size): GrowthCase => {
  const bodies = { format: "ld" as const, entities: 100, perNotification: 100 };
  const away = { ...sink, data_model: "dm-by-entity-type", batch_ttl: "-1", batch_retry_intervals: "1000" };
  return {
    name: `growth: backlog of ${count(size)} events in the file channel`,
    curve: "backlog",
    size,
    bench: { ...ready, channel: "file", sink: away, buffer: CAPACITY, bodies },
    ...(size > 1_000_000 ? { huge: true } : {}),
  };
});

/** Few may wait, whatever their size; the batch is what waits. */
const few = { capacity: "100", transactionCapacity: "100" };

const body = [1_000, 10_000, 100_000, 1_000_000].map((size): GrowthCase => {
  const bodies = { format: "ld" as const, entities: 10, bytes: size };
  const bench = { ...ready, buffer: few, bodies };
  return { name: `growth: bodies of ${count(size)} bytes`, curve: "body", size, bench };
});

/** A thousand tables whatever the notifications hold: what grows is the notification. */
const entities = [1, 10, 100, 1000].map((size): GrowthCase => {
  const bodies = { format: "ld" as const, entities: 1000, perNotification: size };
  const bench = { ...ready, buffer, bodies };
  return { name: `growth: notifications with ${count(size)} entities`, curve: "entities", size, bench };
});

/** A hundred tables with an index, that were filled for a year or more. */
const rows = [1_000_000, 10_000_000, 100_000_000].map((size): GrowthCase => {
  const bodies = { format: "ld" as const, entities: 100 };
  const bench = { ...ready, sink: { ...sink, indexes: "true" }, buffer, bodies };
  const name = `growth: ${count(size)} rows in 100 tables`;
  return { name, curve: "rows", size, bench, ...(size > 10_000_000 ? { huge: true } : {}) };
});

export const growthCases: readonly GrowthCase[] = [
  ...tables,
  ...services,
  ...backlog,
  ...body,
  ...entities,
  ...rows,
].map((one) => {
  return { ...one, bench: { ...one.bench, name: one.name } };
});
