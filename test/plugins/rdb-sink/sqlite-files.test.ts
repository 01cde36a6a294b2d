import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readlink, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { retryableOf } from "../../../core/sdk/index.js";
import { plain } from "../../../core/sql/index.js";
import { sqliteQuery } from "../../../plugins/rdb-sink/sqlite/database.js";
import { SqliteDriver } from "../../../plugins/rdb-sink/sqlite/driver.js";
import { sqliteErrors } from "../../../plugins/rdb-sink/sqlite/errors.js";
import { SqliteFiles } from "../../../plugins/rdb-sink/sqlite/files.js";
import { at } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

test("a file that a backup replaced while it was open goes on with the rows of the backup", async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  const store = (value: string) => sink.persist({ events: [eventOf(entity("e", { a: value }), "s")] }, never);
  await store("before");
  const file = join(folder, "s.db");
  const reader = new Database(file);
  reader.exec(`VACUUM INTO '${join(folder, "backup")}'`);
  reader.close();
  for (const value of ["lost", "lost", "lost"]) await store(value);

  await rename(join(folder, "backup"), file);
  await store("after");

  assert.deepEqual((await sqliteQuery(folder, "SELECT a FROM s.e")).rows, [["before"], ["after"]]);
  assert.deepEqual((await sqliteQuery(folder, "PRAGMA s.integrity_check")).rows, [["ok"]]);
});

/** The folder "data" with the lock of an agent, and what stores a value there. */
async function lockedFolder(context: TestContext, parent: string) {
  const folder = join(parent, "data");
  await mkdir(folder);
  await writeFile(join(folder, "deneb.lock"), "");
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  const store = (value: string, service = "s") =>
    sink.persist({ events: [eventOf(entity("e", { a: value }), service)] }, never);
  return { folder, store };
}

for (const left of ["nothing", "an empty folder"])
  test(`while the folder of an agent is moved away, with its lock, and ${left} is there, nothing is stored there`, async (context) => {
    const parent = await tempFolder(context);
    const { folder, store } = await lockedFolder(context, parent);
    await store("before");
    await rename(folder, `${folder}-away`);
    if (left !== "nothing") await mkdir(folder);

    for (const service of ["s", "other"])
      await assert.rejects(store("meanwhile", service), (error) => {
        assert.match(String(error), /the folder ".*" of the database files is gone; mount its disk, or put it back/);
        assert.equal(retryableOf(error), true);
        return true;
      });
    assert.deepEqual(await readdir(parent), left === "nothing" ? ["data-away"] : ["data", "data-away"]);
    if (left !== "nothing") assert.deepEqual(await readdir(folder), []);

    await rm(folder, { recursive: true, force: true });
    await rename(`${folder}-away`, folder);
    await store("after");

    assert.deepEqual((await sqliteQuery(folder, "SELECT a FROM s.e")).rows, [["before"], ["after"]]);
  });

test("a folder whose lock file alone is removed is written on, and one without a lock is made again", async (context) => {
  const { folder, store } = await lockedFolder(context, await tempFolder(context));
  await store("1");
  await rm(join(folder, "deneb.lock"));
  await store("2");
  await store("3", "other");
  assert.deepEqual((await sqliteQuery(folder, "SELECT a FROM s.e")).rows, [["1"], ["2"]]);

  const own = join(folder, "own");
  const { sink: another } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: own });
  context.after(() => another.stop(never));
  await another.persist({ events: [eventOf(entity("e", { a: "1" }), "s")] }, never);
  await rm(own, { recursive: true });
  await another.persist({ events: [eventOf(entity("e", { a: "2" }), "s")] }, never);
  assert.deepEqual((await sqliteQuery(own, "SELECT a FROM s.e")).rows, [["2"]]);
});

test("what is stored after somebody emptied an open file is in the file", async (context) => {
  const folder = await tempFolder(context);
  const { sink, lines } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  const store = (value: string) =>
    sink.persist({ events: [eventOf(entity("e", { a: value }), "s")], position: at(`c:${value}`) }, never);
  await store("1");
  assert.ok((await stat(join(folder, "s.db"))).size > 0);

  await truncate(join(folder, "s.db"));
  await store("2");
  await store("3");

  assert.deepEqual((await sqliteQuery(folder, "SELECT a FROM s.e")).rows, [["2"], ["3"]]);
  assert.deepEqual((await sqliteQuery(folder, "PRAGMA s.integrity_check")).rows, [["ok"]]);
  assert.deepEqual(
    lines.filter(({ level }) => level === "warn").map(({ message }) => message),
    ["the stored position is gone; the store may lack what was stored before"],
  );
});

for (const removed of [["-wal", "-shm"], ["-wal"], ["-shm"]])
  test(`what is stored before and after somebody removes ${removed.join(" and ")} beside an open file is in the file`, async (context) => {
    const folder = await tempFolder(context);
    const { sink, lines } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
    context.after(() => sink.stop(never));
    const store = (value: string) =>
      sink.persist({ events: [eventOf(entity("e", { a: value }), "s")], position: at(`c:${value}`) }, never);
    await store("1");
    await store("2");

    for (const end of removed) await rm(join(folder, `s.db${end}`));
    await store("3");
    await store("4");

    // As another process sees it, or this one after a kill.
    const copy = await tempFolder(context);
    for (const file of await readdir(folder))
      if (!file.endsWith("-shm")) await cp(join(folder, file), join(copy, file));
    assert.deepEqual((await sqliteQuery(copy, "SELECT a FROM s.e")).rows, [["1"], ["2"], ["3"], ["4"]]);
    assert.deepEqual((await sqliteQuery(copy, "PRAGMA s.integrity_check")).rows, [["ok"]]);
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn" || level === "error"),
      [],
    );
  });

test("what SQLite keeps beside a file shrinks when a program that read from it for long is done", async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  const store = (value: string) => sink.persist({ events: [eventOf(entity("e", { a: value }), "s")] }, never);
  const kept = async () => (await stat(join(folder, "s.db-wal"))).size;
  await store("small");
  const reader = new Database(join(folder, "s.db"));
  context.after(() => reader.close());
  reader.exec("BEGIN");
  reader.exec("SELECT a FROM e");
  const long = "x".repeat(5_000_000);
  for (let row = 0; row < 5; row += 1) await store(long);
  const grown = await kept();

  reader.exec("COMMIT");
  for (let row = 0; row < 3; row += 1) await store("small");

  assert.ok(grown > 24_000_000, `${grown} bytes`);
  assert.ok((await kept()) <= 16 * 1024 * 1024, `${await kept()} bytes`);
});

test("two that make the files of services at once both can use them", async (context) => {
  const folder = await tempFolder(context);
  const drivers = [1, 2].map(() => new SqliteDriver(folder));
  context.after(() => Promise.all(drivers.map((driver) => driver.close())));

  for (let round = 1; round <= 60; round += 1) {
    const made = plain({ database: "", schema: `s${round}` }, "CREATE TABLE IF NOT EXISTS e (a text)");
    await Promise.all(drivers.map((driver) => driver.write([made], never)));
  }

  assert.equal((await readdir(folder)).filter((file) => file.endsWith(".db")).length, 60);
});

test("queries reach the files of services that are named like databases of SQLite, and like those with another name", async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  for (const service of ["main", "main_"])
    await sink.persist({ events: [eventOf(entity("e", { a: service }), service)] }, never);

  const { rows } = await sqliteQuery(folder, "SELECT a FROM main_.e UNION ALL SELECT a FROM main__.e");

  assert.deepEqual(rows, [["main_"], ["main"]]);
});

const skip = process.platform === "linux" ? false : "no /proc";

test("a file that is no database is not left open by each try", { skip }, async (context) => {
  const folder = await tempFolder(context);
  await writeFile(join(folder, "s.db"), "no database ".repeat(1000));
  const files = new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 });

  for (let attempt = 1; attempt <= 10; attempt += 1) assert.throws(() => files.open(["s"]), { code: "SQLITE_NOTADB" });

  const descriptors = await readdir("/proc/self/fd");
  const open = await Promise.all(descriptors.map((one) => readlink(`/proc/self/fd/${one}`).catch(() => "")));
  assert.deepEqual(
    open.filter((file) => file.startsWith(folder)),
    [],
  );
});

test("a file that the system fails to read is an error that names it, and not a file without tables", {
  skip,
}, async (context) => {
  const folder = await tempFolder(context);
  // Nothing is mapped at its beginning: it opens, and the first read fails with EIO.
  await symlink("/proc/self/mem", join(folder, "s.db"));
  const files = new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 });

  assert.throws(() => files.open(["s"]), { code: "SQLITE_IOERR", message: "s.db: unable to open database file" });
  await assert.rejects(sqliteQuery(folder, "SELECT name FROM s.sqlite_master"), /disk I\/O error|unable to open/);
});

test("files are found whatever their names are in a URI", async (context) => {
  const folder = join(await tempFolder(context), "a b?c#d%41");
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  for (const service of ["ä/%2e", "b?mode=ro"])
    await sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)] }, never);

  const files = (await readdir(folder)).filter((file) => file.endsWith(".db"));

  assert.equal(files.length, 2);
  for (const file of files) {
    const reader = new Database(join(folder, file));
    assert.deepEqual(reader.prepare("SELECT a FROM e").raw().all([]), [["1"]]);
    reader.close();
  }
});

test("what the system has against a file is said: SQLite says that it cannot be opened, and no more", async (context) => {
  const folder = await tempFolder(context);
  await mkdir(join(folder, "s.db"));

  assert.throws(() => new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 }).open(["s"]), {
    code: "EISDIR",
    message: /^s\.db: a folder has its place/,
  });
});

for (const file of ["s.db", "s.db-wal", "s.db-shm"])
  test(`a pipe in place of ${file} is named: SQLite says that the disk fails`, async (context) => {
    const folder = await tempFolder(context);
    execFileSync("mkfifo", [join(folder, file)]);

    assert.throws(() => new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 }).open(["s"]), {
      code: "EISDIR",
      message: /^s\.db: a pipe, a socket or a device has (its place|the place of s\.db-(wal|shm)); move it away$/,
    });
  });

test("a link to a device or a pipe of everybody leaves it its permissions", async (context) => {
  const folder = await tempFolder(context);
  const elsewhere = join(folder, "elsewhere");
  execFileSync("mkfifo", ["-m", "0666", elsewhere]);
  await symlink(elsewhere, join(folder, "s.db"));

  assert.throws(() => new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 }).open(["s"]), {
    code: "EISDIR",
  });
  assert.equal((await stat(elsewhere)).mode & 0o777, 0o666);
});

for (const code of ["SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_DIR_FSYNC", "SQLITE_IOERR_TRUNCATE"])
  test(`${code} is of the whole disk: no event becomes a dead letter because a row that is rolled back is taken`, () => {
    const error = { code, message: "disk I/O error" };

    assert.equal(sqliteErrors.ofOnePlace?.(error), false);
    assert.equal(sqliteErrors.retryable(error), true);
  });

test("a read that fails is of one file", () =>
  assert.equal(sqliteErrors.ofOnePlace?.({ code: "SQLITE_IOERR_READ", message: "disk I/O error" }), true));
