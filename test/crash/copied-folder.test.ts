import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { copyOfLive } from "../../core/testing/copied-folder.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { booksOf, settledBooks } from "../support/channel-books.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { oneSinkLines } from "./one-sink-lines.js";

/** Two agents by mistake: the data directory of one was copied, and both run into one database. */
interface Scene {
  readonly database: TestDatabase;
  /** Folders of the original and of its copy; the copy is made by `copy`. */
  readonly folders: { readonly original: string; readonly copy: string };
  start(folder: string): Promise<AgentProcess>;
  copy(): Promise<void>;
}

async function scene(context: TestContext, type: "file" | "spillable"): Promise<Scene | undefined> {
  const database = await postgresqlDatabase();
  if (database === undefined) {
    context.skip("needs PostgreSQL");
    return undefined;
  }
  context.after(() => database.drop());
  const folder = await tempFolder(context);
  const folders = { original: path.join(folder, "original"), copy: path.join(folder, "copy") };
  for (const one of Object.values(folders)) await mkdir(one);
  const properties = oneSinkLines(database, type).join("\n");
  return {
    database,
    folders,
    start: (one) => startAgent(context, { properties, folder: one, env: { DENEB_GRACE_PERIOD: "2" } }),
    copy: () =>
      copyOfLive(
        path.join(folders.original, "data"),
        path.join(folders.copy, "data"),
        (file) => !path.basename(file).includes("lock"),
      ),
  };
}

async function post(agent: AgentProcess, ...numbers: readonly number[]): Promise<void> {
  for (const number of numbers) await postEntities(agent, [numberedRoom(number)], "svc");
}

async function stored({ database }: Scene): Promise<readonly number[]> {
  const rows = await database.query('select number from svc."room" order by number::bigint');
  return rows.map(({ number }) => Number(number));
}

/** Waits until the agent has said why it stores nothing. */
async function reasonOf(agent: AgentProcess): Promise<string> {
  const line = await until(
    async () => agent.lines.find(({ reason }) => /moved by the agent|leaving out of channel/.test(String(reason))),
    (found) => found !== undefined,
  );
  return String(line?.["reason"]);
}

for (const type of ["file", "spillable"] as const)
  for (const how of ["while it ran", "while it was stopped"] as const)
    test(`${type}: of an agent and one with a copy made ${how} one stores nothing and says so; its remedy stores everything once`, async (context) => {
      const made = await scene(context, type);
      if (made === undefined) return;
      const { folders, database } = made;
      let original = await made.start(folders.original);
      await post(original, 1, 2);
      await settledBooks(original);
      if (how === "while it was stopped") {
        await original.end("SIGTERM");
        await made.copy();
        original = await made.start(folders.original);
      } else await made.copy();
      const copy = await made.start(folders.copy);

      await post(original, 10, 11, 12);
      await settledBooks(original);
      await post(copy, 20, 21);
      const reason = await reasonOf(copy);
      await post(original, 13);
      await settledBooks(original);

      assert.match(reason, /host|copied or restored/);
      assert.deepEqual(await stored(made), [1, 2, 10, 11, 12, 13]);
      assert.equal((await booksOf(copy)).waiting, 2);
      assert.equal((await booksOf(copy)).dead_lettered, 0);

      await original.end("SIGTERM");
      await database.query("DELETE FROM deneb.positions WHERE deneb_sink = 's'");
      await settledBooks(copy);
      assert.deepEqual(await stored(made), [1, 2, 10, 11, 12, 13, 20, 21]);
      await copy.end("SIGTERM");
    });

test("an agent whose copy has stored meanwhile stores nothing, and goes on beside it under a new id", async (context) => {
  const made = await scene(context, "file");
  if (made === undefined) return;
  const { folders } = made;
  const original = await made.start(folders.original);
  await post(original, 1);
  await settledBooks(original);
  await made.copy();
  const copy = await made.start(folders.copy);
  await post(copy, 20);
  await settledBooks(copy);

  await post(original, 10, 11);
  const reason = await reasonOf(original);
  await post(copy, 21);
  await settledBooks(copy);
  const rows = await stored(made);
  await original.end("SIGTERM");
  await writeFile(path.join(folders.original, "data", "channels", "c", "checkpoint", "new-id"), "");
  const again = await made.start(folders.original);
  await post(again, 12);
  await settledBooks(again);
  await post(copy, 22);
  await settledBooks(copy);

  assert.match(reason, new RegExp(`pid ${copy.process.pid},`));
  assert.deepEqual(rows, [1, 20, 21]);
  assert.deepEqual(await stored(made), [1, 10, 11, 12, 20, 21, 22]);
  await Promise.all([again.end("SIGTERM"), copy.end("SIGTERM")]);
});

test("a backup that is restored beside the database of today leaves nothing out and says so", async (context) => {
  const made = await scene(context, "file");
  if (made === undefined) return;
  const { folders, database } = made;
  const original = await made.start(folders.original);
  await post(original, 1);
  await settledBooks(original);
  await made.copy();
  await post(original, 2, 3, 4);
  await settledBooks(original);
  await original.end("SIGTERM");

  const restored = await made.start(folders.copy);
  await post(restored, 20, 21);
  const reason = await reasonOf(restored);
  const rows = await stored(made);
  await database.query("DELETE FROM deneb.positions WHERE deneb_sink = 's'");
  await settledBooks(restored);
  await restored.end("SIGTERM");

  assert.match(reason, /its folder was copied or restored from a backup.*new-id/);
  assert.deepEqual(rows, [1, 2, 3, 4]);
  assert.deepEqual(await stored(made), [1, 2, 3, 4, 20, 21]);
});
