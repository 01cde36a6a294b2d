import { columnName } from "../../../ngsi/index.js";
import type { RowSelection, StoredTable } from "../../../sdk/index.js";
import type { RowCondition } from "../../contract/matching.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../../contract/statement.js";
import { columnLayoutColumns } from "../../rows/layout.js";
import { catalogued } from "../../tables/catalogue.js";
import { hiddenBecause } from "../../tables/hidden.js";
import { type KnownStore, lookUp } from "../../tables/known-store.js";
import { Belongings, type Lister, UNCLEAR } from "../../tables/lister.js";
import { listedServices } from "../../tables/register-rows.js";

/** A table that this sink has listed, and the condition that its rows must meet; none if all rows are meant. */
export interface ChosenTable {
  readonly table: StoredTable;
  readonly conditions: readonly RowCondition[];
}

/** A table of which it is not known whether its rows are meant. */
interface DoubtfulTable {
  readonly table: StoredTable;
  readonly reason: string;
}

export interface Choice {
  readonly chosen: readonly ChosenTable[];
  /** Of this sink. */
  readonly doubtful: readonly DoubtfulTable[];
  /** Listed tables that only other sinks have listed. */
  readonly others: readonly StoredTable[];
}

const TABLES_AT_ONCE = 1000;

/**
 * The tables that may hold what a selection means. Every table of the sink is asked for the id: its name says nothing,
 * because ids are shortened, folded and mapped to names.
 */
export async function chosenTables(
  selection: RowSelection,
  lister: Lister,
  store: KnownStore,
  signal: AbortSignal,
): Promise<Choice> {
  const { tables: names } = selection;
  const all = belongingTables(await catalogued({}, store, signal), lister);
  const { own, unclear, others } = named(all, names);
  const several = names === undefined ? new Set<string>() : sharedNames(own);
  const services = new SchemaServicesRead(store, signal);
  const doubtful: DoubtfulTable[] = unclear.map((table) => ({ table, reason: UNCLEAR }));
  const meant: StoredTable[] = [];
  for (const table of own) {
    if (several.has(table.name)) {
      doubtful.push({ table, reason: SEVERAL });
      continue;
    }
    const fit = selection.service === undefined ? "whole" : await services.fit(table, selection.service);
    if (fit === "whole") meant.push(table);
    else if (fit !== "other") doubtful.push({ table, reason: fit.reason });
  }
  const { service } = selection;
  const chosen = await searched(meant, { selection, doubtful, store, signal });
  return {
    chosen,
    doubtful,
    others: others.filter((table) => service === undefined || (table.service ?? service) === service),
  };
}

/** Listed tables from the point of view of a sink, each in one list. */
interface BelongingTables {
  readonly own: readonly StoredTable[];
  readonly unclear: readonly StoredTable[];
  readonly others: readonly StoredTable[];
}

export function belongingTables(listed: readonly StoredTable[], lister: Lister): BelongingTables {
  const rows = listed.map((table) => ({ name: table, table, lister: { agent: table.agent, sink: table.sink } }));
  const belongings = new Belongings(rows, lister);
  const of = (belonging: string) => rows.flatMap((row) => (belongings.of(row) === belonging ? [row.table] : []));
  const own = of("own");
  const keys = new Set(own.map(tableKey));
  const without = (tables: readonly StoredTable[]) => tables.filter((table) => !keys.has(tableKey(table)));
  const unclear = without(of("unclear"));
  for (const table of unclear) keys.add(tableKey(table));
  return { own, unclear, others: without(of("other")) };
}

function named({ own, unclear, others }: BelongingTables, names: readonly string[] | undefined): BelongingTables {
  const among = (tables: readonly StoredTable[]) => tables.filter(({ name }) => names?.includes(name) ?? true);
  return { own: among(own), unclear: among(unclear), others: among(others) };
}

const SEVERAL = "several tables have this name, one in a database and one without; select the entity or the service";

/** Names that say of more than one table. */
function sharedNames(tables: readonly StoredTable[]): ReadonlySet<string> {
  const keys = new Map<string, string>();
  const shared = new Set<string>();
  for (const table of tables) {
    if ((keys.get(table.name) ?? tableKey(table)) !== tableKey(table)) shared.add(table.name);
    keys.set(table.name, tableKey(table));
  }
  return shared;
}

interface Searching {
  readonly selection: RowSelection;
  /** Gets the tables that cannot be searched. */
  readonly doubtful: DoubtfulTable[];
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

/** Those of the tables that exist, with the conditions for their rows. */
async function searched(
  meant: readonly StoredTable[],
  { selection, doubtful, store, signal }: Searching,
): Promise<readonly ChosenTable[]> {
  const chosen: ChosenTable[] = [];
  const keys = new Set(meant.map(tableKey));
  for (let start = 0; start < meant.length; start += TABLES_AT_ONCE) {
    const part = meant.slice(start, start + TABLES_AT_ONCE);
    await lookUp(part.map(nameOf), store, signal);
    for (const table of part) {
      if (store.tables.columns(nameOf(table)) === undefined) {
        const reason = await hiddenBecause(nameOf(table), store, signal, keys);
        if (reason !== undefined) doubtful.push({ table, reason });
        continue;
      }
      const conditions = conditionsFor(selection, nameOf(table), store);
      if (conditions === undefined) doubtful.push({ table, reason: "it has no column of entity ids" });
      else chosen.push({ table, conditions });
    }
  }
  return chosen;
}

export function nameOf({ database, schema, table }: TableName): TableName {
  return { database, schema, table };
}

function conditionsFor(
  selection: RowSelection,
  name: TableName,
  store: KnownStore,
): readonly RowCondition[] | undefined {
  const { entity } = selection;
  const { naming, tables } = store;
  const times = ofTime(selection, name, store);
  if (entity === undefined) return times;
  const column = columnName(columnLayoutColumns.ld[1], naming);
  const kind = tables.kind(name, column);
  return kind === undefined ? undefined : [{ column: { name: column, kind }, test: "is", text: entity }, ...times];
}

function ofTime({ from, to }: RowSelection, name: TableName, { naming, tables }: KnownStore): readonly RowCondition[] {
  const time = columnName(columnLayoutColumns.ld[0], naming);
  const kind = tables.kind(name, time);
  if (kind === undefined) return [];
  const column = { name: time, kind };
  return [
    ...(from === undefined ? [] : [{ column, test: "from", text: timeText(from) } as const]),
    ...(to === undefined ? [] : [{ column, test: "before", text: timeText(to) } as const]),
  ];
}

function timeText(time: Date): string {
  return time.toISOString().replace("T", " ").replace("Z", "");
}

/** Whether all rows of a table are of a service, none is, or it cannot be said and why. */
type Fit = "whole" | "other" | { readonly reason: string };

/** The services that any sink has noted for a schema: rows do not say of which service they are. */
class SchemaServicesRead {
  readonly #store: KnownStore;
  readonly #signal: AbortSignal;
  readonly #read = new Map<string, readonly string[]>();

  constructor(store: KnownStore, signal: AbortSignal) {
    this.#store = store;
    this.#signal = signal;
  }

  async fit(table: StoredTable, service: string): Promise<Fit> {
    const noted = await this.#services({ database: table.database, schema: table.schema });
    if (noted.length === 0) {
      if (table.service !== undefined && table.service !== service) return "other";
      return { reason: "the version that made it did not note the services of its schema; select it by its name" };
    }
    if (!noted.includes(service)) return "other";
    if (noted.length === 1) return "whole";
    const names = noted.map((name) => JSON.stringify(name)).join(", ");
    return {
      reason: `its schema holds the services ${names}, and a row does not say which; select by entity or table`,
    };
  }

  async #services(schema: SchemaName): Promise<readonly string[]> {
    const key = schemaKey(schema);
    const known = this.#read.get(key) ?? [...new Set(await listedServices(schema, this.#store, this.#signal))];
    this.#read.set(key, known);
    return known;
  }
}
