import { type LeftData, reasonOf } from "../../../sdk/index.js";
import type { Driver } from "../../contract/driver.js";
import type { SchemaName, TableName } from "../../contract/statement.js";
import { type KnownStore, lookUp } from "../../tables/known-store.js";
import { refuseNewerTable } from "../../tables/known-tables.js";
import { registersOf } from "../../tables/register-rows.js";
import { CHANNEL, DATABASE, SINK } from "../positions/position-rows.js";

interface DatabaseSearch {
  readonly sink: string;
  /** Whether positions are kept: then databases are noted with them. */
  readonly noted: boolean;
  /** Whether the data model makes databases: behind a channel in memory they are noted nowhere. */
  readonly made: boolean;
}

/** A store that knows all databases of a sink. */
export interface FoundDatabases {
  readonly store: KnownStore;
  /** Databases of which it is not known whether a sink has stored there. */
  unread(): readonly LeftData[];
}

/**
 * A store whose commit units include the databases in which a sink has stored: those that an agent has noted with its
 * positions, and those of the server that have a list of tables. A process that has just started knows none of them.
 */
export function withListedDatabases(store: KnownStore, search: DatabaseSearch): FoundDatabases {
  const { driver } = store;
  let listed: Promise<readonly SchemaName[]> | undefined;
  const unread: LeftData[] = [];
  const read: Driver["read"] = async (statements, signal) => {
    try {
      return await driver.read(statements, signal);
    } catch (error) {
      const gone = await goneOf((await listed) ?? [], { search, unread, store, signal });
      const left = statements.filter(({ at }) => !gone.has(at.database));
      if (left.length === statements.length) throw error;
      listed = listed?.then((units) => units.filter(({ database }) => !gone.has(database)));
      return await read(left, signal);
    }
  };
  const own: Driver = {
    probe: (signal) => driver.probe(signal),
    read,
    write: (statements, signal) => driver.write(statements, signal),
    close: (signal) => driver.close(signal),
    commitUnits: async (signal) => {
      const units = await driver.commitUnits(signal);
      listed ??= databasesOf(units, { search, unread, store, signal });
      const known = new Set(units.map(({ database }) => database));
      return [...units, ...(await listed).filter(({ database }) => !known.has(database))];
    },
  };
  const pages = driver.pages?.bind(driver);
  const alone = driver.alone?.bind(driver);
  return {
    store: {
      ...store,
      driver: { ...own, ...(pages === undefined ? {} : { pages }), ...(alone === undefined ? {} : { alone }) },
    },
    unread: () => unread,
  };
}

interface Finding {
  readonly search: DatabaseSearch;
  readonly unread: LeftData[];
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

async function databasesOf(units: readonly SchemaName[], finding: Finding): Promise<readonly SchemaName[]> {
  const { search, store, signal } = finding;
  const found = new Set<string>();
  for (const unit of search.noted ? units : []) {
    for (const database of await notedDatabases(store.dialect.positionsTable(unit), finding)) found.add(database);
  }
  const { otherDatabases } = store.dialect;
  const others = search.made && otherDatabases !== undefined ? await store.driver.read([otherDatabases], signal) : [];
  for (const [database = ""] of others) {
    if (!found.has(database) && (await hasRegister(database, finding))) found.add(database);
  }
  return [...found].map((database) => ({ database, schema: "" }));
}

/** Those of the listed databases that are not on the server any more: others drop theirs at any time. */
async function goneOf(listed: readonly SchemaName[], { store, signal }: Finding): Promise<ReadonlySet<string>> {
  const { otherDatabases } = store.dialect;
  if (listed.length === 0 || otherDatabases === undefined) return new Set();
  const there = new Set((await store.driver.read([otherDatabases], signal)).map(([database]) => database));
  return new Set(listed.map(({ database }) => database).filter((database) => !there.has(database)));
}

/** Read without a lock, which would need a right to write: what a pending write adds is new anyway. */
async function notedDatabases(name: TableName, { search, store, signal }: Finding): Promise<readonly string[]> {
  await lookUp([name], store, signal);
  if (store.tables.columns(name) === undefined) return [];
  refuseNewerTable(name, store);
  const question = store.dialect.selectColumns([CHANNEL], { name, key: [SINK], cells: [search.sink] });
  const channels = (await store.driver.read([question], signal)).flatMap(([channel]) => channel ?? []);
  return channels.flatMap((channel) => (channel.startsWith(DATABASE) ? channel.slice(DATABASE.length) : []));
}

async function hasRegister(database: string, { unread, store, signal }: Finding): Promise<boolean> {
  try {
    return (await registersOf([{ database, schema: "" }], store, signal)).length > 0;
  } catch (error) {
    if (signal.aborted) throw error;
    unread.push({ name: `database "${database}"`, reason: `it cannot be searched: ${reasonOf(error)}` });
    return false;
  }
}
