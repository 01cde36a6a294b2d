import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import Database from "libsql";
import { openIn, usual } from "./channel-folder.js";

/**
 * Compares what a durable channel could stand on: events of 0.9 KB, acknowledged when they are on disk, from 1, 16 and
 * 128 producers at once; then taken and removed 1,000 at a time. Run: node dist/test/plugins/file-channel/measure-stores.js
 */
interface Store {
  put(text: string): Promise<void>;
  /** Takes and removes up to 1,000; resolves to how many. */
  drain(): Promise<number>;
  close(): Promise<void>;
}

const text = "x".repeat(880);
const loads = [
  { producers: 1, events: 5000 },
  { producers: 16, events: 60_000 },
  { producers: 128, events: 200_000 },
] as const;

for (const [name, open] of [
  ["segments", openSegments],
  ["SQLite", openSqlite],
] as const) {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-measure-"));
  const store = await open(folder);
  for (const load of loads) console.log(`${name}, ${load.producers} producers: ${await putAll(store, load)}`);
  console.log(`${name}, read and remove: ${await drainAll(store)}`);
  await store.close();
  await rm(folder, { recursive: true });
}

async function putAll(store: Store, { producers, events }: (typeof loads)[number]): Promise<string> {
  const times: number[] = [];
  const start = performance.now();
  const produce = async (): Promise<void> => {
    for (let index = 0; index < events / producers; index += 1) {
      const before = performance.now();
      await store.put(text);
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: producers }, produce));
  const seconds = (performance.now() - start) / 1000;
  times.sort((one, other) => one - other);
  const share = (part: number) => (times[Math.floor(times.length * part)] ?? 0).toFixed(2);
  return `${Math.round(times.length / seconds)} events/s, p50 ${share(0.5)} ms, p99 ${share(0.99)} ms`;
}

async function drainAll(store: Store): Promise<string> {
  const start = performance.now();
  let total = 0;
  for (let count = await store.drain(); count > 0; count = await store.drain()) total += count;
  return `${Math.round(total / ((performance.now() - start) / 1000))} events/s`;
}

async function openSegments(folder: string): Promise<Store> {
  const { channel } = await openIn(folder, { ...usual, maxFileSize: 67_108_864, transactionCapacity: 10_000 });
  return {
    async put(body) {
      const transaction = channel.openPut();
      transaction.put({ headers: {}, body });
      await transaction.commit();
    },
    async drain() {
      const transaction = channel.openTake();
      const events = await transaction.take(1000, AbortSignal.abort());
      await transaction.commit();
      return events.length;
    },
    close: () => channel.stop(),
  };
}

/** One transaction for all puts of a turn of the event loop: what group commit is for a synchronous library. */
async function openSqlite(folder: string): Promise<Store> {
  const database = new Database(path.join(folder, "events.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE events (sequence INTEGER PRIMARY KEY, event TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO events (event) VALUES (?)");
  const select = database.prepare("SELECT sequence, event FROM events ORDER BY sequence LIMIT 1000");
  const remove = database.prepare("DELETE FROM events WHERE sequence <= ?");
  let group: { readonly event: string; readonly done: () => void }[] = [];
  const flush = (): void => {
    const puts = group;
    group = [];
    database.exec("BEGIN");
    for (const { event } of puts) insert.run(event);
    database.exec("COMMIT");
    for (const { done } of puts) done();
  };
  return {
    put: (body) =>
      new Promise((done) => {
        if (group.length === 0) setImmediate(flush);
        group.push({ event: JSON.stringify({ headers: {}, body }), done });
      }),
    async drain() {
      const rows = select.all().map((row) => Object(row));
      for (const { event } of rows) JSON.parse(event);
      if (rows.length > 0) remove.run(rows.at(-1).sequence);
      return rows.length;
    },
    async close() {
      database.close();
    },
  };
}
