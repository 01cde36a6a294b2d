import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Database from "libsql";
import { SqliteFiles } from "../../../plugins/rdb-sink/sqlite/files.js";
import { KeptLocks } from "../../../plugins/rdb-sink/sqlite/kept-locks.js";
import { tempFolder } from "../../support/temp-folder.js";

/** Locks of files that are waited for 5,000 ms, and how long each of the tries waited for one that is locked. */
function tries() {
  let now = 0;
  let version = 1;
  const waits: number[] = [];
  const locks = new KeptLocks(5000, () => now);
  const refuse = (commits: number) => (wait: number) => {
    waits.push(wait);
    now += wait;
    version += commits;
    throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
  };
  return {
    waits,
    pass: (millis: number) => {
      now += millis;
    },
    commit: () => {
      version += 1;
    },
    /** A try that fails, while others commit so often. */
    code: (commits: number) => {
      try {
        return locks.locked("s", refuse(commits), () => version);
      } catch (error) {
        return error instanceof Error && "code" in error ? error.code : error;
      }
    },
    succeed: () => locks.locked("s", (wait) => waits.push(wait)),
  };
}

test("a file that one transaction keeps locked is waited for once in a minute", () => {
  const { waits, pass, code } = tries();

  const codes = [0, 0, 59_000, 1000, 0].map((millis) => {
    pass(millis);
    return code(0);
  });

  assert.deepEqual(waits, [5000, 0, 0, 5000, 0]);
  assert.deepEqual(new Set(codes), new Set(["KEPT_LOCKED"]));
});

test("a file to which others commit is busy and not kept locked, and is waited for at each try", () => {
  const { waits, code } = tries();

  assert.deepEqual([code(1), code(2), code(1)], ["SQLITE_BUSY", "SQLITE_BUSY", "SQLITE_BUSY"]);
  assert.deepEqual(waits, [5000, 5000, 5000]);
});

test("a file that was kept locked is waited for again after a commit of others, and after a success", () => {
  const { waits, code, commit, succeed } = tries();

  code(0);
  commit();
  code(0);
  succeed();
  code(0);

  assert.deepEqual(waits, [5000, 5000, 5000, 5000]);
});

test("another error than that of a lock stays as it is", () => {
  const full = Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });

  assert.throws(
    () =>
      new KeptLocks(5000).locked("s", () => {
        throw full;
      }),
    full,
  );
});

test("a transaction that another connection keeps open is distinguished from commits of it, by the file", async (context) => {
  const folder = await tempFolder(context);
  const files = new SqliteFiles({ folder, hadLock: false, mostOpen: 8, busyMillis: 0 });
  context.after(() => files.close());
  files.open(["s"]);
  const other = new Database(join(folder, "s.db"));
  context.after(() => other.close());
  other.exec("CREATE TABLE e (a text); BEGIN IMMEDIATE");

  assert.throws(() => files.begin("s"), { code: "KEPT_LOCKED", message: "s.db: it is kept locked" });
  other.exec("COMMIT");
  files.begin("s");
  assert.throws(() => other.exec("BEGIN IMMEDIATE"), { code: "SQLITE_BUSY" });
});
