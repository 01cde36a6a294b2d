import { AgentError, type Context, reasonOf, type StoredSummary } from "../../../sdk/index.js";
import { databaseErrorOf } from "../../contract/database-error.js";
import type { Store } from "../../contract/driver.js";
import { type TableName, tableKey } from "../../contract/statement.js";
import { printedName } from "../../tables/catalogue.js";
import type { KnownStore } from "../../tables/known-store.js";
import type { ListedStore } from "../../tables/make-missing.js";
import { CHANNEL, DATABASE, EVENTS, MOVED, PART, type PositionRow, PositionRows, SINK } from "./position-rows.js";

const MOST_TABLES = 1000;

/**
 * Milliseconds that counting the rows of one table, and of all, may take: one may be locked, or large. What is counted for people must
 * not keep the events from being compared.
 */
const LONGEST_OF_TABLE = 5000;
const LONGEST_OF_ALL = 15_000;

interface Counting {
  readonly sink: string;
  readonly store: ListedStore;
  /** False for a sink without positions, which count the events. */
  readonly counts: boolean;
}

/** The events that were counted with the positions of a sink, by channel, and the rows of its tables. */
export async function storedSummary({ sink, store, counts }: Counting, signal: AbortSignal): Promise<StoredSummary> {
  const channels = counts ? await countedEvents(sink, store, signal) : undefined;
  return { ...(channels === undefined ? {} : { channels }), tables: await countedRows(store, signal) };
}

/** Where positions are kept: the database, or the folder of its files, which may be moved together with the data directory. */
export function placeOf(
  { dialect, server, bookkeepingDatabase }: Store,
  { dataDir }: Pick<Context, "dataDir">,
): string {
  const address = server.address === dataDir ? "" : server.address;
  const parts = [dialect.database, address, server.database, bookkeepingDatabase?.configured ?? ""];
  return parts.filter((part) => part !== "").join(" ");
}

async function countedEvents(
  sink: string,
  store: ListedStore,
  signal: AbortSignal,
): Promise<NonNullable<StoredSummary["channels"]>> {
  const { dialect, driver } = store;
  const events = new Map<string, number>();
  const found = await ownPositions(sink, { rows: new PositionRows(store), store, mayMiss: false }, signal);
  for (const { name, row } of found) {
    if (row.channel.startsWith(DATABASE)) continue;
    const question = dialect.selectColumns([EVENTS, MOVED], { name, key: [SINK, CHANNEL], cells: [sink, row.channel] });
    const [[count, moved] = []] = await driver.read([question], signal);
    if (row.moved !== undefined && (moved ?? "") < row.moved) throw lagging(row.moved, moved);
    const channel = channelOf(row.channel);
    events.set(channel, (events.get(channel) ?? 0) + Number(count ?? 0));
  }
  return [...events].map(([channel, count]) => ({ channel, events: count }));
}

/** The position was read with locks, which only the primary has; a pooler or proxy may send other reads elsewhere. */
function lagging(known: string, moved: string | undefined): AgentError {
  const times = `the position is of ${known}, and ${moved ?? "not there"} where its events are counted`;
  const remedy = "wait until it has caught up, or let the pooler or proxy send all reads of the agent to the primary";
  return new AgentError("STORE_UNAVAILABLE", `a server that lags behind answers: ${times}; ${remedy}`, {
    retryable: true,
  });
}

async function countedRows(store: ListedStore, signal: AbortSignal): Promise<StoredSummary["tables"]> {
  const tables: { table: string; rows?: number }[] = [];
  const listed = (await store.register?.tables(signal))?.own ?? [];
  const end = AbortSignal.timeout(LONGEST_OF_ALL);
  for (const name of listed.slice(0, MOST_TABLES)) {
    const table = printedName(name);
    const limit = AbortSignal.any([signal, end, AbortSignal.timeout(LONGEST_OF_TABLE)]);
    try {
      tables.push({ table, rows: await rowsOf(name, store, limit) });
    } catch (error) {
      // One that was dropped stays listed.
      if (store.dialect.errors.missing(databaseErrorOf(error))) continue;
      if (signal.aborted || !limit.aborted) throw error;
      tables.push({ table });
    }
  }
  return tables;
}

async function rowsOf(name: TableName, { dialect, driver }: KnownStore, signal: AbortSignal): Promise<number> {
  const [[rows] = []] = await driver.read([dialect.count({ name, time: { name: "", kind: "text" } })], signal);
  return Number(rows ?? 0);
}

/** Of a whole batch, or of one commit unit of it. */
function channelOf(channel: string): string {
  return channel.startsWith(PART) ? (channel.split(":")[1] ?? channel) : channel;
}

interface FoundPosition {
  readonly name: TableName;
  readonly row: PositionRow;
}

interface PositionsAsked {
  readonly rows: PositionRows;
  readonly store: KnownStore;
  /** Whether the rows of a listed database that cannot be read are left out. */
  readonly mayMiss: boolean;
}

/**
 * All rows of a sink: in the known commit units, in the databases listed in the default one, and where earlier versions
 * kept them.
 */
export async function ownPositions(
  sink: string,
  { rows, store, mayMiss }: PositionsAsked,
  signal: AbortSignal,
): Promise<readonly FoundPosition[]> {
  const { driver, dialect, log } = store;
  const asked = new Set<string>();
  const found: FoundPosition[] = [];
  const read = async (name: TableName): Promise<void> => {
    if (asked.has(tableKey(name))) return;
    asked.add(tableKey(name));
    for (const row of await rows.read(name, [{ sink }], signal)) found.push({ name, row });
  };
  const failed = new Map<string, unknown>();
  const readListed = async (name: TableName, database: string): Promise<void> => {
    try {
      await read(name);
    } catch (error) {
      if (signal.aborted || !mayMiss || database === "") throw error;
      failed.set(database, error);
    }
  };
  // A listed database that could not be opened before is a known unit, too.
  for (const unit of await driver.commitUnits(signal)) await readListed(dialect.positionsTable(unit), unit.database);
  const listed = new Set(databasesListedIn(found));
  for (const database of listed) await readListed(dialect.positionsTable({ database, schema: "" }), database);
  for (const [database, error] of failed) {
    if (!listed.has(database)) throw error;
    // It is read again before the first write to it.
    log.warn({ database, reason: reasonOf(error) }, "positions of a database cannot be read");
  }
  const tables = dialect.earlierPositions === undefined ? [] : await driver.read([dialect.earlierPositions], signal);
  for (const [database = "", schema = "", table = ""] of tables) await read({ database, schema, table });
  return found;
}

function databasesListedIn(found: readonly FoundPosition[]): readonly string[] {
  return found.flatMap(({ row: { channel } }) => (channel.startsWith(DATABASE) ? channel.slice(DATABASE.length) : []));
}
