import type { Driver } from "../contract/driver.js";
import type { SchemaName } from "../contract/statement.js";
import type { KnownStore } from "../tables/known-store.js";
import { DATABASE, PositionRows } from "./position-rows.js";

/**
 * A store whose commit units include the databases in which a sink has stored: an agent notes them with its positions, and
 * a process that has just started knows none of them.
 */
export function withListedDatabases(store: KnownStore, sink: string): KnownStore {
  const { driver } = store;
  let listed: Promise<readonly SchemaName[]> | undefined;
  const own: Driver = {
    probe: (signal) => driver.probe(signal),
    read: (statements, signal) => driver.read(statements, signal),
    write: (statements, signal) => driver.write(statements, signal),
    close: (signal) => driver.close(signal),
    commitUnits: async (signal) => {
      const units = await driver.commitUnits(signal);
      listed ??= databasesOf(units, { sink, store, signal });
      const known = new Set(units.map(({ database }) => database));
      return [...units, ...(await listed).filter(({ database }) => !known.has(database))];
    },
  };
  const pages = driver.pages?.bind(driver);
  const alone = driver.alone?.bind(driver);
  return {
    ...store,
    driver: { ...own, ...(pages === undefined ? {} : { pages }), ...(alone === undefined ? {} : { alone }) },
  };
}

interface Listed {
  readonly sink: string;
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

async function databasesOf(
  units: readonly SchemaName[],
  { sink, store, signal }: Listed,
): Promise<readonly SchemaName[]> {
  const positions = new PositionRows(store);
  const found = new Set<string>();
  for (const unit of units) {
    for (const { channel } of await positions.read(store.dialect.positionsTable(unit), [{ sink }], signal)) {
      if (channel.startsWith(DATABASE)) found.add(channel.slice(DATABASE.length));
    }
  }
  return [...found].map((database) => ({ database, schema: "" }));
}
