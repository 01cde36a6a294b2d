import { columnName } from "../../../ngsi/index.js";
import type { AdoptRequest, Context, StoredTable, TableResult } from "../../../sdk/index.js";
import type { SqlConfig } from "../../contract/schema.js";
import { type TableName, tableKey } from "../../contract/statement.js";
import { columnLayoutColumns } from "../../rows/layout.js";
import { isShortened } from "../../rows/table-names.js";
import { catalogued, printedName } from "../../tables/catalogue.js";
import { type KnownStore, makeOwnTable } from "../../tables/known-store.js";
import { isSameLister, listerOf, printedLister } from "../../tables/lister.js";
import { listingStatements, registerDefinition, type TableKind } from "../../tables/register-rows.js";

const TABLES_AT_ONCE = 500;

interface AdoptParts {
  readonly store: KnownStore;
  readonly config: Pick<SqlConfig, "last_data_table_suffix">;
  readonly context: Pick<Context, "agent" | "name" | "now">;
}

/** A table that may be listed. */
interface Adopted {
  readonly name: TableName;
  readonly kind: TableKind;
}

/** Lists tables under the sink that it has not made: those with the columns of every layout, and no others. */
export async function adopt(
  request: AdoptRequest,
  dryRun: boolean,
  { parts, signal }: { readonly parts: AdoptParts; readonly signal: AbortSignal },
): Promise<readonly TableResult[]> {
  const { store, context } = parts;
  const whole = await tablesOfLayouts(store, signal);
  const listed = new Map<string, StoredTable[]>();
  for (const table of await catalogued({}, store, signal)) {
    const others = listed.get(tableKey(table)) ?? [];
    listed.set(tableKey(table), [...others, table]);
  }
  const results: TableResult[] = [];
  const accepted: Adopted[] = [];
  for (const asked of askedFor(request, whole)) {
    if (typeof asked === "string") {
      results.push({ name: asked, outcome: "refused", reason: missing(store) });
      continue;
    }
    const decided = decide(asked, listed.get(tableKey(asked)) ?? [], request, parts);
    results.push({ name: printedName(asked), ...decided.result });
    if (decided.kind !== undefined) accepted.push({ name: asked, kind: decided.kind });
  }
  if (!dryRun) await list(accepted, { store, context }, signal);
  return results;
}

/** All tables with the columns of every layout, by their printed names. */
async function tablesOfLayouts(
  { dialect, driver, naming }: KnownStore,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TableName>> {
  const fixed = columnLayoutColumns.ld.map((column) => columnName(column, naming));
  const wanted = new Set(fixed.map((column) => dialect.columnKey(column)));
  const found = new Map<string, { readonly name: TableName; readonly columns: Set<string> }>();
  const answer = await driver.read(dialect.tablesWith(fixed, await driver.commitUnits(signal)), signal);
  for (const [database = "", schema = "", table, column] of answer) {
    if (table === undefined || column === undefined) continue;
    const name = { database, schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: new Set() };
    found.set(tableKey(name), one);
    if (wanted.has(dialect.columnKey(column))) one.columns.add(dialect.columnKey(column));
  }
  return new Map(
    [...found.values()].flatMap(({ name, columns }) =>
      columns.size === wanted.size ? [[printedName(name), name] as const] : [],
    ),
  );
}

/** The tables that the request means, each once; a name without such a table stays a text. */
function askedFor(
  { tables, schemas }: AdoptRequest,
  whole: ReadonlyMap<string, TableName>,
): readonly (TableName | string)[] {
  const named = tables.map((name) => whole.get(name) ?? name);
  const inSchemas = [...whole.values()].filter(({ schema }) => schemas.includes(schema));
  const empty = schemas.filter((schema) => !inSchemas.some((name) => name.schema === schema));
  return [...new Set([...named, ...inSchemas, ...empty])];
}

interface Decision {
  readonly result: Omit<TableResult, "name">;
  /** Undefined if it is not to be listed. */
  readonly kind?: TableKind;
}

function decide(
  name: TableName,
  listed: readonly StoredTable[],
  { kind: given, fromOthers }: AdoptRequest,
  { store, config, context }: AdoptParts,
): Decision {
  const lister = listerOf(context);
  const own = listed.find(({ agent, sink }) => isSameLister({ agent, sink }, lister));
  if (own !== undefined) return { result: { outcome: "unchanged", reason: `listed as ${own.kind} already` } };
  // A row of an earlier version under this name may be its own.
  const other = listed.find(({ agent, sink }) => agent !== undefined || sink !== lister.sink);
  if (other !== undefined && !fromOthers) {
    const reason = `${printedLister(other)} has listed it; --from-others lists it under this one as well`;
    return { result: { outcome: "refused", reason } };
  }
  // A table of last data of any sink is history for none.
  const kind = listed.some((one) => one.kind === "last data") ? "last data" : (given ?? kindOf(name, store, config));
  if (kind === undefined) {
    const reason = "its name is shortened and does not tell what it keeps; --kind history or --kind last-data tells it";
    return { result: { outcome: "refused", reason } };
  }
  return { result: { outcome: "done", reason: `as ${kind}` }, kind };
}

/** A shortened name has lost the suffix of last data. */
function kindOf(
  name: TableName,
  { dialect }: KnownStore,
  { last_data_table_suffix: suffix }: AdoptParts["config"],
): TableKind | undefined {
  if (isShortened(name, dialect)) return undefined;
  return suffix !== "" && name.table.endsWith(suffix) ? "last data" : "history";
}

async function list(
  adopted: readonly Adopted[],
  { store, context }: Pick<AdoptParts, "store" | "context">,
  signal: AbortSignal,
): Promise<void> {
  const registers = new Map(
    adopted.map(({ name }) => {
      const register = store.dialect.registerTable(name);
      return [tableKey(register), register] as const;
    }),
  );
  for (const register of registers.values()) await makeOwnTable(registerDefinition(register), store, signal);
  const time = context.now().toISOString();
  const lister = listerOf(context);
  for (let start = 0; start < adopted.length; start += TABLES_AT_ONCE) {
    // The id or type that an old table is named after is known with the next row.
    const listings = adopted.slice(start, start + TABLES_AT_ONCE).map((one) => ({ ...one, subject: "" }));
    await store.driver.write(listingStatements(listings, { lister, time, dialect: store.dialect }), signal);
  }
}

function missing({ naming }: KnownStore): string {
  const columns = columnLayoutColumns.ld.map((column) => columnName(column, naming)).join(", ");
  return `there is no such table with the columns ${columns}; the name is written as in deneb tables list`;
}
