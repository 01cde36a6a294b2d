import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test } from "node:test";
import { postgresqlDatabase } from "../postgresql.js";
import { tempFolder } from "../temp-folder.js";
import { until } from "../until.js";
import { signsOf } from "./signs-of-file.js";

test("of a file that does not end its processes are shown, and what they started", async (context) => {
  const file = path.join(await tempFolder(context), "hangs.js");
  const child = "setInterval(() => {}, 1000); console.log(process.pid)";
  const text = `process.stdin.resume(); require("child_process").spawn(process.execPath, ["-e", ${JSON.stringify(child)}], { stdio: "inherit" })`;
  const parent = spawn(process.execPath, ["-e", text, file], { stdio: ["pipe", "pipe", "inherit"] });
  const [started] = await once(parent.stdout, "data");
  const id = Number(String(started));
  context.after(() => {
    parent.kill();
    process.kill(id);
  });

  const lines = await signsOf(file);

  assert.deepEqual(
    lines.filter((line) => line.startsWith("process")).map((line) => line.split(":")[0]),
    [`process ${parent.pid} of ${process.pid}`, `process ${id} of ${parent.pid}`],
  );
});

test("what PostgreSQL works on meanwhile is shown with what it waits for", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  void database.query("SELECT pg_sleep(60)").catch(() => {});

  // The statement is active before it waits.
  const lines = await until(
    () => signsOf("no such file"),
    (all) => all.some((line) => line.includes(database.database) && line.includes("PgSleep")),
  );

  const line = lines.find((one) => one.includes(database.database));
  assert.match(line ?? "", /active PgSleep, for [\d:.]+: SELECT pg_sleep\(60\)/);
});
