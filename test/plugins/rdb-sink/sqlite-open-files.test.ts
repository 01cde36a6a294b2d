import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { sqliteErrors } from "../../../plugins/rdb-sink/sqlite/errors.js";
import { mostOpenDatabases } from "../../../plugins/rdb-sink/sqlite/open-file-limit.js";
import { tempFolder } from "../../support/temp-folder.js";

const compiled = (module: string) => JSON.stringify(new URL(`../../../${module}`, import.meta.url).href);
const skip = process.platform === "win32" ? "no ulimit" : false;

const writes = [
  { how: "at once", atOnce: 100 },
  { how: "one after another", atOnce: 1 },
];

for (const { how, atOnce } of writes)
  test(`a process that may open 128 files stores the rows of 100 services ${how}, again and again`, {
    skip,
  }, async (context) => {
    const folder = await tempFolder(context);
    const script = `
      const { SqliteDriver } = await import(${compiled("plugins/rdb-sink/sqlite/driver.js")});
      const { plain } = await import(${compiled("core/sql/index.js")});
      const driver = new SqliteDriver(${JSON.stringify(folder)});
      const never = new AbortController().signal;
      const schemas = Array.from({ length: 100 }, (_, index) => ({ database: "", schema: "s" + index }));
      const insert = (at) => [
        plain(at, "CREATE TABLE IF NOT EXISTS e (a text)"),
        { at, text: "INSERT INTO e VALUES (?)", runs: [["x"]] },
      ];
      for (const round of [1, 2, 3])
        for (let first = 0; first < schemas.length; first += ${atOnce})
          await driver.write(schemas.slice(first, first + ${atOnce}).flatMap(insert), never);
      const counts = await driver.read(schemas.map((at) => plain(at, "SELECT count(*) FROM e")), never);
      console.log(counts.length, counts.filter(([count]) => count === "3").length);
      await driver.close();`;
    const file = path.join(folder, "writer.mjs");
    await writeFile(file, script);

    const { stdout } = await promisify(execFile)("sh", [
      "-c",
      `ulimit -n 128 && exec "$@"`,
      "sh",
      process.execPath,
      file,
    ]);

    assert.equal(stdout, "100 100\n");
  });

const limits = [
  { limit: 20, open: 4 },
  { limit: 256, open: 8 },
  { limit: 1024, open: 32 },
  { limit: 1_048_576, open: 128 },
];

for (const { limit, open } of limits)
  test(`a sink of a process that may open ${limit} files keeps ${open} databases open`, () =>
    assert.equal(mostOpenDatabases(limit), open));

for (const code of ["EMFILE", "ENFILE"])
  test(`${code} is of the whole process, not of the file of one service: no event becomes a dead letter for it`, () => {
    const error = { code, message: "too many open files" };

    assert.equal(sqliteErrors.ofOnePlace?.(error), false);
    assert.equal(sqliteErrors.retryable(error), true);
  });
