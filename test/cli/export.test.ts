import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { text as collected } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import Database from "libsql";
import { FilesAside } from "../../core/cli/export/files.js";
import { createProgram } from "../../core/cli/program.js";
import type { Entity } from "../../core/ngsi/index.js";
import { smallDisk } from "../crash/small-disk.js";
import { attribute, entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { main, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const hard: Entity = {
  ...entity("urn:a", { text: '=1+1, "two"\r\nlines', empty: "" }),
  attributes: [
    attribute("text", '=1+1, "two"\r\nlines'),
    attribute("empty", ""),
    { ...attribute("half", ""), value: { kind: "number", text: "21.5" } },
    { ...attribute("yes", ""), value: { kind: "boolean", text: "true" } },
    { ...attribute("place", ""), value: { kind: "object", text: '{"a":[1,2]}' } },
    { ...attribute("day", "2020-05-13T10:00:00.123456Z"), type: "DateTime" },
  ],
};

/** A folder with rows in SQLite of two entities, and what exports them. */
async function stored(context: TestContext) {
  const folder = await tempFolder(context);
  const config = { rdb_dialect: "sqlite", rdb_folder: folder, attr_native_types: true } as const;
  const { sink } = sinkOf(config, undefined, undefined, { name: "s" });
  const other = eventOf(entity("urn:b", { text: "1" }), "svc");
  await sink.persist({ events: [eventOf(hard, "svc"), eventOf(entity("urn:a", { text: "2" }), "svc"), other] }, never);
  await sink.stop(never);
  const file = path.join(folder, "agent.properties");
  await writeFile(
    file,
    `deneb.channels = c
deneb.channels.c.type = memory
deneb.sinks = s
deneb.sinks.s.type = rdb
deneb.sinks.s.channel = c
deneb.sinks.s.rdb_dialect = sqlite
deneb.sinks.s.rdb_folder = ${folder}
deneb.sinks.s.attr_native_types = true
deneb.sources = h
deneb.sources.h.type = http
deneb.sources.h.channels = c
deneb.sources.h.port = 5050
deneb.sources.h.handler = ngsi
`,
  );
  return { folder, run: (...args: readonly string[]) => runHere(["export", "--config", file, ...args]) };
}

test("CSV quotes what needs it, and tells an empty text from a null", async (context) => {
  const { run } = await stored(context);

  const { code, stdout, stderr } = await run("--entity", "urn:a");

  assert.equal(code, 0, stderr);
  const [header, ...rest] = stdout.split("\r\n");
  assert.equal(header, "recvtime,entityid,entitytype,text,empty,half,yes,place,day");
  assert.equal(rest[0], '2020-05-13T14:46:21.918Z,urn:a,T,"=1+1, ""two""');
  assert.equal(rest[1], 'lines","",21.5,true,"{""a"":[1,2]}",2020-05-13T10:00:00.123456Z');
  assert.equal(rest[2], "2020-05-13T14:46:21.918Z,urn:a,T,2,,,,,");
  assert.equal(stderr, "2 rows of 1 table\n");
});

test("on a terminal control characters of texts are escaped, and in a pipe all is as it was stored", async (context) => {
  const { folder, run } = await stored(context);
  const text = "\u001b]0;title\u0007\u009b2k\rover\u202e";
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder }, undefined, undefined, { name: "s" });
  await sink.persist({ events: [eventOf(entity("urn:b", { text, [`n${text}\nm`]: "1" }), "svc")] }, never);
  await sink.stop(never);
  const shown = async (...args: readonly string[]) => {
    const { terminal, out } = recordingTerminal();
    const screen = new PassThrough();
    const file = ["--config", path.join(folder, "agent.properties")];
    const code = await createProgram({ ...terminal, bytes: screen, screen: { colors: false } }).run([...args, ...file]);
    assert.equal(code, 0);
    return (await collected(screen.end())) + out.join("\n");
  };

  const piped = await run("--entity", "urn:b", "--format", "csv");
  const csv = await shown("export", "--entity", "urn:b");
  const ndjson = await shown("export", "--entity", "urn:b", "--format", "ndjson");
  const table = await shown("sql", `select * from svc.urn_b`);

  assert.equal(piped.stdout.includes(text), true);
  const escaped = "\\u001b]0;title\\u0007\\u009b2k\\rover\\u202e";
  for (const output of [csv, ndjson, table]) {
    assert.equal(output.includes(escaped), true, output);
    assert.doesNotMatch(output, /[^\P{Cc}\n]|\u202e/u);
  }
  assert.equal(table.includes(`n${escaped}\\nm`), true, table);
});

test("an export of a table that no sink has listed is refused, and names it", async (context) => {
  const { run } = await stored(context);

  const { code, stdout, stderr } = await run("--table", "svc.urn_a", "svc.nosuch");

  assert.deepEqual([code, stdout], [2, ""]);
  assert.equal(stderr, 'error: no sink has listed a table "svc.nosuch"; give a name as deneb tables list prints it\n');
});

test("an export whose reader goes away ends without a message", async (context) => {
  const { folder } = await stored(context);
  const args = [main, "export", "--config", path.join(folder, "agent.properties"), "--entity", "urn:a"];

  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  const [stderr, [code]] = await Promise.all([collected(child.stderr), once(child, "exit")]);

  assert.deepEqual([code, stderr], [0, ""]);
});

test("NDJSON has numbers, booleans, nulls and JSON as such", async (context) => {
  const { run } = await stored(context);

  const { stdout } = await run("--entity", "urn:a", "--format", "ndjson");

  const [first, second] = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    [first.text, first.empty, first.half, first.yes, first.place, first.day],
    ['=1+1, "two"\r\nlines', "", 21.5, true, { a: [1, 2] }, "2020-05-13T10:00:00.123456Z"],
  );
  assert.equal(second.half, null);
});

test("Parquet has typed columns, and a file for each table in a directory", async (context) => {
  const { folder, run } = await stored(context);
  const out = path.join(folder, "out");

  const { code, stderr } = await run("--output", `${out}/`, "--format", "parquet");

  assert.equal(code, 0, stderr);
  assert.deepEqual((await readdir(out)).toSorted(), ["svc.urn_a.parquet", "svc.urn_b.parquet"]);
  const file = await asyncBufferFromFile(path.join(out, "svc.urn_a.parquet"));
  const [first, second] = await parquetReadObjects({ file });
  assert.deepEqual(
    [first?.["half"], first?.["yes"], first?.["place"], first?.["empty"]],
    [21.5, true, '{"a":[1,2]}', ""],
  );
  assert.equal(String(first?.["day"]), String(new Date("2020-05-13T10:00:00.123Z")));
  assert.equal(second?.["half"] ?? undefined, undefined);
});

test("a table whose name is too long for a file, once its dots are encoded, has a shortened one", async (context) => {
  const { folder, run } = await stored(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder }, undefined, undefined, { name: "s" });
  const service = Array.from({ length: 25 }, () => "a").join(".");
  const ids = ["1", "2"].map((end) => `${Array.from({ length: 30 }, () => "b").join(".")}${end}`);
  const event = (id: string) => eventOf({ ...entity(id, { p: id.slice(-1) }), type: "", api: "v2" }, service);
  await sink.persist({ events: ids.map(event) }, never);
  await sink.stop(never);
  const out = path.join(folder, "out");

  const { code, stderr } = await run("--output", `${out}/`);

  assert.equal(code, 0, stderr);
  const names = (await readdir(out)).filter((name) => name.startsWith("a%2Ea"));
  const values = await Promise.all(names.map(async (name) => (await readFile(path.join(out, name), "utf8")).slice(-7)));
  assert.deepEqual(
    names.map((name) => /^a%2E[^.]*\.b[^.]*_[0-9a-f]{16}\.csv$/.test(name)),
    [true, true],
  );
  assert.deepEqual(values.toSorted(), [",1,[]\r\n", ",2,[]\r\n"]);
});

test("a file is replaced only with --overwrite, and holds one table or is not made", async (context) => {
  const { folder, run } = await stored(context);
  const file = path.join(folder, "rows.csv");
  await writeFile(file, "mine");

  const refused = await run("--entity", "urn:b", "--output", file);
  const kept = await readFile(file, "utf8");
  const replaced = await run("--entity", "urn:b", "--output", file, "--overwrite");
  const both = await run("--output", path.join(folder, "both.csv"));

  assert.deepEqual([refused.code, replaced.code, both.code], [1, 0, 1]);
  assert.match(refused.stderr, /it exists; give another name, or --overwrite/);
  assert.equal(kept, "mine");
  assert.match(await readFile(file, "utf8"), /urn:b/);
  assert.match(both.stderr, /a file holds one table; give a directory/);
  assert.ok((await readdir(folder)).every((name) => !name.endsWith(".partial")));
});

test("nothing is written to the output when several tables have rows, and nothing to a file", async (context) => {
  const { folder, run } = await stored(context);
  const file = path.join(folder, "all.csv");

  const output = await run();
  const inFile = await run("--output", file);

  for (const { code, stdout, stderr } of [output, inFile]) {
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /table "svc\.urn_b"|table "svc\.urn:b"|a file holds one table/);
  }
  assert.ok(!(await readdir(folder)).includes("all.csv"));
});

/** Damages what a table of the service holds. */
async function damage(folder: string): Promise<void> {
  const name = path.join(folder, "svc.db");
  const database = new Database(name);
  const sizes = "SELECT page_size, rootpage FROM pragma_page_size, sqlite_master WHERE name = 'urn_b'";
  const found: unknown = database.prepare(sizes).raw().all([])[0];
  const [size = 0, root = 0] = Array.isArray(found) ? found.map(Number) : [];
  database.close();
  const file = await open(name, "r+");
  await file.write(Buffer.alloc(size, 0xff), 0, size, (root - 1) * size);
  await file.close();
}

test("nothing is written to the output when a later table cannot be read", async (context) => {
  const { folder, run } = await stored(context);
  await damage(folder);

  const { code, stdout, stderr } = await run();

  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /damaged|malformed/);
});

test("when a later table cannot be read, or its file is there, a directory gets no file", async (context) => {
  const { folder, run } = await stored(context);
  const out = path.join(folder, "out");
  await mkdir(out);
  await writeFile(path.join(out, "svc.urn_b.csv"), "mine");

  const refused = await run("--output", `${out}/`);
  const withMine = await readdir(out);
  await rm(path.join(out, "svc.urn_b.csv"));
  await damage(folder);
  const damaged = await run("--output", `${out}/`);

  assert.deepEqual([refused.code, damaged.code], [1, 1]);
  assert.match(refused.stderr, /svc\.urn_b\.csv": it exists/);
  assert.deepEqual([withMine, await readdir(out)], [["svc.urn_b.csv"], []]);
});

test("until all files of an export are complete its directory has parts only, which tell that they belong together", async (context) => {
  const { folder, run } = await stored(context);
  const out = path.join(folder, "out");
  const files = new FilesAside(false);
  await mkdir(out);
  // What the command does to the moment in which the last file is complete.
  for (const name of ["a.csv", "b.csv"]) await files.write(path.join(out, name), (file) => writeFile(file, name));
  const left = await readdir(out);

  const next = await run("--output", `${out}/`);
  const after = (await readdir(out)).filter((name) => !name.endsWith(".partial"));

  assert.equal(new Set(left.map((name) => name.replace(/^[ab]\.csv/, ""))).size, 1);
  assert.ok(left.every((name) => name.endsWith(".partial")));
  assert.deepEqual([next.code, after.toSorted()], [0, ["svc.urn_a.csv", "svc.urn_b.csv"]]);
});

test("a file that is made while others are written keeps its name, and those get none", async (context) => {
  const folder = await tempFolder(context);
  const files = new FilesAside(false);
  const [first, second] = [path.join(folder, "a"), path.join(folder, "b")];
  for (const file of [first, second]) await files.write(file, (temporary) => writeFile(temporary, "new"));
  await writeFile(second, "mine");

  await assert.rejects(files.name(), { code: "FILE_EXISTS" });
  await files.clear();

  assert.deepEqual(await readdir(folder), ["b"]);
  assert.equal(await readFile(second, "utf8"), "mine");
});

test("a file that cannot be written to its end is named", async (context) => {
  const { folder, run } = await stored(context);
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("a file system is mounted for this, which needs root on Linux");
  context.after(() => disk.remove());
  await disk.fill();

  for (const name of ["rows.csv", "rows.parquet"]) {
    const file = path.join(disk.folder, name);
    const { code, stderr } = await run("--entity", "urn:a", "--output", file);

    assert.equal(code, 1, stderr);
    assert.match(stderr, new RegExp(`writing "${file}": ENOSPC`));
  }
  assert.deepEqual(
    (await readdir(disk.folder)).filter((name) => name.startsWith("rows")),
    [],
  );
  assert.ok((await readdir(folder)).length > 0);
});

test("what is no file is not replaced by one, with --overwrite either", async (context) => {
  const { folder, run } = await stored(context);
  const pipe = path.join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);

  const { code, stderr } = await run("--entity", "urn:a", "--output", pipe, "--overwrite");

  assert.equal(code, 1, stderr);
  assert.match(stderr, /it is no file, and would be replaced by one/);
  assert.ok((await stat(pipe)).isFIFO());
});

test("options that make no sense are refused", async (context) => {
  const { run } = await stored(context);

  const results = [await run("--from", "yesterday"), await run("--format", "xml"), await run("--format", "parquet")];

  assert.deepEqual(
    results.map(({ code }) => code),
    [2, 2, 2],
  );
});
