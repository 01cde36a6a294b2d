import { reasonOf } from "../../sdk/index.js";
import { type SchemaName, type TableName, tableKey } from "../contract/statement.js";
import type { KnownStore } from "../tables/known-store.js";
import { DATABASE, type PositionRow, type PositionRows } from "./position-rows.js";

export interface FoundPosition {
  readonly name: TableName;
  readonly row: PositionRow;
}

/**
 * All rows of a sink: in the known commit units, in the databases listed in the default one, and where earlier versions
 * kept them.
 */
export async function ownPositions(
  sink: string,
  { rows, store }: { readonly rows: PositionRows; readonly store: KnownStore },
  signal: AbortSignal,
): Promise<readonly FoundPosition[]> {
  const { driver, dialect, log } = store;
  const asked = new Set<string>();
  const read = async (name: TableName): Promise<readonly FoundPosition[]> => {
    if (asked.has(tableKey(name))) return [];
    asked.add(tableKey(name));
    const own = await rows.read(name, [{ sink }], signal);
    return own.map((row) => ({ name, row }));
  };
  const units = await driver.commitUnits(signal);
  const found: FoundPosition[] = [];
  for (const name of tablesOf(units, store)) found.push(...(await read(name)));

  const known = new Set(units.map(({ database }) => database));
  const listed = found.flatMap(({ row: { channel } }) =>
    channel.startsWith(DATABASE) ? channel.slice(DATABASE.length) : [],
  );
  for (const database of listed.filter((name) => !known.has(name))) {
    try {
      found.push(...(await read(dialect.positionsTable({ database, schema: "" }))));
    } catch (error) {
      if (signal.aborted) throw error;
      // It is read again before the first write to it.
      log.warn({ database, reason: reasonOf(error) }, "positions of a database cannot be read");
    }
  }
  const tables = dialect.earlierPositions === undefined ? [] : await driver.read([dialect.earlierPositions], signal);
  for (const [database = "", schema = "", table = ""] of tables) {
    found.push(...(await read({ database, schema, table })));
  }
  return found;
}

function tablesOf(units: readonly SchemaName[], { dialect }: KnownStore): Iterable<TableName> {
  return new Map(
    units.map((unit) => {
      const name = dialect.positionsTable(unit);
      return [tableKey(name), name] as const;
    }),
  ).values();
}
