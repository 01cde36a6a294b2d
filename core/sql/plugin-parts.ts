import type { Context, Event, ExplainedWrite, Explanation, Sink } from "../sdk/index.js";
import type { Dialect, TableRows } from "./contract/dialect.js";
import type { Store } from "./contract/driver.js";
import type { SqlConfig } from "./contract/schema.js";
import type { Statement } from "./contract/statement.js";
import { explainedNotes, type RecordedWrites } from "./explain-notes.js";
import { SqlSink } from "./sql-sink.js";

/** Where an event would be explained: the context of the sink, and its store, of which nothing but the dialect is used. */
export interface ExplainParts {
  readonly context: Context;
  readonly store: Store;
}

/** What a sink would send for an event to an empty database: the sink itself, with a driver that writes it down. */
export async function explainSql(
  config: SqlConfig,
  event: Event,
  { context, store }: ExplainParts,
): Promise<Explanation> {
  const sent: Statement[] = [];
  const recorded: RecordedWrites = { histories: [], lastRows: [], removed: [] };
  const driver = {
    probe: async () => undefined,
    read: async () => [],
    write: async (statements: readonly Statement[]) => {
      sent.push(...statements);
      return 0;
    },
    commitUnits: async () => [],
    close: async () => undefined,
  };
  const sink = new SqlSink(
    config,
    context,
    { ...store, driver, dialect: recording(store.dialect, recorded) },
    "unlisted",
  );
  await sink.persist({ events: [event] }, new AbortController().signal);
  return {
    writes: [
      ...recorded.histories.map(writeOf),
      ...recorded.lastRows.map(({ name, columns, cells }) => writeOf({ name, columns, rows: [cells] })),
    ],
    statements: sent.flatMap(({ text, runs }) =>
      runs.map((parameters) => ({ text: text.trim().replaceAll(/\s*\n\s*/g, " "), parameters })),
    ),
    notes: [...new Set(explainedNotes(event, recorded, { config, dialect: store.dialect }))],
  };
}

function recording(dialect: Dialect, { histories, lastRows, removed }: RecordedWrites): Dialect {
  return {
    ...dialect,
    insert: (rows) => {
      histories.push(rows);
      return dialect.insert(rows);
    },
    upsert: (row) => {
      lastRows.push(row);
      return dialect.upsert(row);
    },
    remove: (rows) => {
      removed.push(rows);
      return dialect.remove(rows);
    },
  };
}

function writeOf({ name, columns, rows }: TableRows): ExplainedWrite {
  return {
    destination: Object.fromEntries(Object.entries(name).filter(([, part]) => part !== "")),
    columns: columns.map((column) => column.name),
    rows,
  };
}

/**
 * A sink that stores entities as rows of a database, for the `create` of your plugin: layouts, names, tables made and
 * extended as they are needed, last data, retention and exactly-once rows by the configuration, SQL by the dialect, the
 * way there by the driver.
 */
export function sqlSink(config: SqlConfig, context: Context, store: Store): Sink {
  return new SqlSink(config, context, store);
}
