import assert from "node:assert/strict";
import { test } from "node:test";
import { UpkeepFailures } from "../../core/sql/features/retention/upkeep-failures.js";
import { recordingLog } from "../support/recording-log.js";

test("what fails for one table is logged once for each cause and when it works again, apart from other tables", async () => {
  const { log, lines } = recordingLog();
  const ending = new AbortController();
  const upkeep = new UpkeepFailures(log, ending.signal);
  const [one, two] = ["one", "two"].map((table) => ({ table: { database: "", schema: "s", table } }));
  const fail = (reason: string) => () => Promise.reject(new Error(reason));
  const work = async () => {};

  for (const reason of ["locked", "locked", "full"]) await upkeep.guarded("delete", one ?? {}, fail(reason));
  await upkeep.guarded("delete", two ?? {}, work);
  await upkeep.guarded("check", {}, fail("away"));
  await upkeep.guarded("delete", one ?? {}, work);
  await upkeep.guarded("check", {}, work);
  await upkeep.guarded("check", {}, work);
  ending.abort();
  await upkeep.guarded("check", {}, fail("stopped"));

  assert.deepEqual(
    lines.map(({ level, message }) => `${level} ${message}`),
    [
      "warn old rows not deleted, will be tried again",
      "warn old rows not deleted, will be tried again",
      "warn old rows not checked, will be tried again",
      "info old rows are deleted again",
      "info old rows are checked again",
    ],
  );
});
