import type { StoredSummary } from "../../sdk/index.js";
import type { ListedStore } from "../tables/make-missing.js";
import { ownPositions } from "./own-positions.js";
import { CHANNEL, DATABASE, EVENTS, PART, PositionRows, SINK } from "./position-rows.js";

const MOST_TABLES = 1000;

/** The events that were counted with the positions of a sink, by channel, and the rows of its tables. */
export async function storedSummary(sink: string, store: ListedStore, signal: AbortSignal): Promise<StoredSummary> {
  const { dialect, driver } = store;
  const events = new Map<string, number>();
  const found = await ownPositions(sink, { rows: new PositionRows(store), store }, signal);
  for (const { name, row } of found) {
    if (row.channel.startsWith(DATABASE)) continue;
    const question = dialect.select(EVENTS, { name, key: [SINK, CHANNEL], cells: [sink, row.channel] });
    const [[count] = []] = await driver.read([question], signal);
    const channel = channelOf(row.channel);
    events.set(channel, (events.get(channel) ?? 0) + Number(count ?? 0));
  }

  const tables: { table: string; rows: number }[] = [];
  const listed = (await store.register?.tables(signal))?.own ?? [];
  for (const name of listed.slice(0, MOST_TABLES)) {
    const [[rows] = []] = await driver.read([dialect.count({ name, time: { name: "", kind: "text" } })], signal);
    const parts = [...new Set([name.database, name.schema]), name.table].filter((part) => part !== "");
    tables.push({ table: parts.join("."), rows: Number(rows ?? 0) });
  }
  return { channels: [...events].map(([channel, count]) => ({ channel, events: count })), tables };
}

/** Of a whole batch, or of one commit unit of it. */
function channelOf(channel: string): string {
  return channel.startsWith(PART) ? (channel.split(":")[1] ?? channel) : channel;
}
