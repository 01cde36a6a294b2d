import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import { tempFolder } from "../../support/temp-folder.js";

const driver = new URL("../../../plugins/rdb-sink/sqlite/driver.js", import.meta.url);
const isKnown = (flag: string) => process.allowedNodeEnvironmentFlags.has(flag);
const model = isKnown("--permission") ? "--permission" : "--experimental-permission";

const restrictions = [
  { lacks: "may start no thread", flags: ["--allow-addons"] },
  { lacks: "may load no SQLite", flags: ["--allow-worker"] },
];

for (const { lacks, flags } of restrictions)
  test(`database files cannot be used by a process that ${lacks}, although their folder can be read`, async (context) => {
    const script = `
      const { SqliteDriver } = await import(${JSON.stringify(driver.href)});
      const files = new SqliteDriver(${JSON.stringify(await tempFolder(context))});
      const never = new AbortController().signal;
      for (const ask of ["probe", "commitUnits"])
        await files[ask](never).then(() => console.log(ask, "works"), () => console.log(ask, "fails"));`;
    const all = [model, "--allow-fs-read=*", "--allow-fs-write=*", ...flags, "--input-type=module", "--eval", script];

    const { stdout } = await promisify(execFile)(process.execPath, all);

    assert.equal(stdout, "probe fails\ncommitUnits fails\n");
  });

test("the thread of database files loads no module of deneb/sql, which would take longer than all else that it loads", async () => {
  const modules = [new URL("./worker.js", driver).href];
  const loaded = new Set<string>();
  for (const module of modules) {
    const text = await readFile(new URL(module), "utf8");
    for (const [, name = ""] of text.matchAll(/^(?:import|export)\b.*? from "(.+)";$/gm)) {
      const next = new URL(name, module).href;
      if (!name.startsWith(".")) loaded.add(name);
      else if (!modules.includes(next)) modules.push(next);
    }
  }

  assert.ok(loaded.has("libsql"));
  assert.ok(!loaded.has("deneb/sql"));
});
