import type { Context, Event, ExplainedWrite, Explanation, Sink, StoredData } from "../sdk/index.js";
import type { Dialect, TableRows } from "./contract/dialect.js";
import type { Store } from "./contract/driver.js";
import type { SqlConfig } from "./contract/schema.js";
import type { Statement } from "./contract/statement.js";
import { explainedNotes, type RecordedWrites } from "./explain-notes.js";
import { SqlStoredData } from "./features/stored-data/stored-data.js";
import { SqlSink } from "./sql-sink.js";

/** The context of the sink, and its store, of which only the dialect is used. @beta */
export interface ExplainParts {
  readonly context: Context;
  readonly store: Store;
}

/**
 * What a sink would send to an empty database for an event. It runs the sink with a driver that records statements.
 * @beta
 */
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
 * A sink that stores entities as rows of a database, for the `create` of your plugin. Layouts, names, the creation of
 * tables and columns, last data, retention and exactly-once rows follow from the configuration; the dialect provides
 * the SQL, and the driver runs it.
 * @beta
 */
export function sqlSink(config: SqlConfig, context: Context, store: Store): Sink {
  return new SqlSink(config, context, store);
}

/** What commands do with the data that such a sink has stored, for the `data` of your plugin. @beta */
export function storedData(config: SqlConfig, context: Context, store: Store): StoredData {
  return new SqlStoredData(config, context, store);
}
