import { columnName } from "../../../ngsi/index.js";
import { counted } from "../../../sdk/counted.js";
import type { ErasedRows, Erasure, LeftData, StoredSelection } from "../../../sdk/index.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import { type Driver, isUnexpectedChanges } from "../../contract/driver.js";
import { type Statement, type TableName, tableKey } from "../../contract/statement.js";
import { columnLayoutColumns, isUnstorable } from "../../rows/layout.js";
import { printedName } from "../../tables/catalogue.js";
import type { KnownStore } from "../../tables/known-store.js";
import { type Lister, printedLister } from "../../tables/lister.js";
import { rowsAnywhere } from "../../tables/register-rows.js";
import { type Choice, type ChosenTable, chosenTables, nameOf } from "./chosen-tables.js";
import { type DoomedRows, errorRows, otherErrorTables } from "./erased-errors.js";
import { keptRows } from "./kept-rows.js";
import { withRows } from "./tables-with-rows.js";

/**
 * The rows of the first transaction of a table, so that writes need not wait long for a few. Each further one takes
 * several times as many: without an index each reads the table from its beginning.
 */
const FIRST_ROWS = 5000;
const GROWTH = 4;
const MOST_ROWS = 1_000_000;
const MOST_NAMED = 1000;
/** Others may delete some of the rows at the same time, once or twice. */
const MOST_MISSES = 3;
const KEPT = "its rows are still there: a trigger, a rule or row security of the table keeps them";

/** What an erasure needs to know. */
interface ErasureRequest {
  readonly selection: StoredSelection;
  readonly lister: Lister;
  readonly dryRun: boolean;
}

/**
 * Erases rows from the tables that a sink has listed and from the error tables beside them. It may be interrupted at any
 * point and run again: what is left is found again.
 */
export async function erase(request: ErasureRequest, store: KnownStore, signal: AbortSignal): Promise<Erasure> {
  const { selection, lister } = request;
  const { chosen, doubtful, others } = await chosenTables(selection, lister, store, signal);
  const erased: ErasedRows[] = [];
  const left: LeftData[] = doubtful.map(({ table, reason }) => ({ name: table.name, reason }));
  // No row can have such an id: it was refused.
  const storable = selection.entity === undefined || !isUnstorable(selection.entity);
  const own = storable ? chosen.map(asRows) : [];
  const all = own.concat(await errorRows(selection, chosen, { store, signal, left }));
  for await (const rows of withRows(all, { store, signal })) {
    const count = await erasedFrom(rows, left, { store, signal, dryRun: request.dryRun });
    if (count > 0) erased.push({ table: rows.printed, kind: rows.kind, rows: count });
  }
  left.push(...(await keptRows(all, { store, signal })));
  const untouched = [
    ...others.map((table) => ({ name: table.name, reason: `only ${printedLister(table)} has listed it` })),
    ...(await unlisted(request, { chosen, others, doubtful }, { store, signal })),
  ];
  return {
    erased: joined(erased),
    left,
    untouched: untouched.slice(0, MOST_NAMED),
    notes: notesOn(selection, chosen, untouched.length),
  };
}

/** Tables that no sink has listed, and that have the columns of one or of an error table. */
async function unlisted(
  { selection }: ErasureRequest,
  { chosen, others, doubtful }: Choice,
  { store, signal }: Erasing,
): Promise<readonly LeftData[]> {
  if (selection.tables !== undefined) {
    const known = new Set([...[...chosen, ...doubtful].map(({ table }) => table), ...others].map(({ name }) => name));
    const missing = selection.tables.filter((name) => !known.has(name));
    return missing.map((name) => ({ name, reason: "no sink has listed a table of that name; see deneb tables list" }));
  }
  const { dialect, driver, naming } = store;
  const columns = columnLayoutColumns.ld.map((column) => columnName(column, naming));
  const found = new Map<string, { readonly name: TableName; columns: number }>();
  const units = await driver.commitUnits(signal);
  for (const [database = "", schema = "", table = ""] of await driver.read(
    dialect.tablesWith(columns, units),
    signal,
  )) {
    const name = { database, schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: 0 };
    found.set(tableKey(name), { name, columns: one.columns + 1 });
  }
  const listed = new Set((await rowsAnywhere(store, signal)).map(({ name }) => tableKey(name)));
  const errors = await otherErrorTables(chosen, { store, signal });
  return [
    ...[...found]
      .filter(([key, one]) => one.columns === columns.length && !listed.has(key))
      .map(([, { name }]) => ({ name: printedName(name), reason: "no sink has listed it" })),
    ...errors.map((name) => ({ name: printedName(name), reason: "this sink has listed no table beside it" })),
  ];
}

interface Erasing {
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

function asRows({ table, conditions }: ChosenTable): DoomedRows {
  return { name: nameOf(table), conditions, printed: table.name, kind: table.kind };
}

async function erasedFrom(
  rows: DoomedRows,
  left: LeftData[],
  { store, signal, dryRun }: Erasing & { readonly dryRun: boolean },
): Promise<number> {
  const { dialect, driver } = store;
  let erased = 0;
  const count = async (limit: number) => {
    const [[found] = []] = await driver.read([dialect.countMatching(rows, limit)], signal);
    return Number(found ?? 0);
  };
  try {
    if (dryRun) return await count(Number.MAX_SAFE_INTEGER);
    for (let most = FIRST_ROWS, misses = 0; ; ) {
      const some = await count(most);
      if (some > 0 && !(await hasDeleted(dialect.deleteMatching(rows, some), driver, signal))) {
        misses += 1;
        if (misses < MOST_MISSES) continue;
        left.push({ name: rows.printed, reason: KEPT });
        return erased;
      }
      erased += some;
      if (some < most) return erased;
      most = Math.min(most * GROWTH, MOST_ROWS);
      misses = 0;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    const databaseError = databaseErrorOf(error);
    // Dropped meanwhile, and its rows with it.
    if (dialect.errors.missing(databaseError)) return erased;
    left.push({ name: rows.printed, reason: dialect.errors.explain(databaseError, store.server) });
    return erased;
  }
}

/** False, and nothing is deleted, if the database says that it were other rows than were counted. */
async function hasDeleted(deletion: Statement, driver: Driver, signal: AbortSignal): Promise<boolean> {
  try {
    await driver.write([deletion], signal);
    return true;
  } catch (error) {
    if (isUnexpectedChanges(error)) return false;
    throw error;
  }
}

/** One entry for each table: error tables are searched in two columns. */
function joined(erased: readonly ErasedRows[]): readonly ErasedRows[] {
  const byTable = new Map<string, ErasedRows>();
  for (const one of erased) {
    const before = byTable.get(one.table)?.rows ?? 0;
    byTable.set(one.table, { ...one, rows: before + one.rows });
  }
  return [...byTable.values()];
}

function notesOn(
  { entity, service }: StoredSelection,
  chosen: readonly ChosenTable[],
  untouched: number,
): readonly string[] {
  const named = entity === undefined ? [] : chosen.filter(({ table }) => table.subject === entity);
  const names = named.slice(0, MOST_NAMED).map(({ table }) => table.name);
  return [
    ...(named.length === 0
      ? []
      : [`tables that are named after the entity stay, without its rows: ${names.join(", ")}`]),
    ...(service === undefined ? [] : ["schemas, tables and the list of tables stay, with names made of the service"]),
    ...(untouched > MOST_NAMED
      ? [
          `${counted(untouched - MOST_NAMED, "more table")} not of this sink ${untouched - MOST_NAMED === 1 ? "is" : "are"} not named here`,
        ]
      : []),
  ];
}
