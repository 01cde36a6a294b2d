import assert from "node:assert/strict";
import { mkdir, rmdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { Erasures } from "../../core/pipeline/erasures.js";
import { retryableOf } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";

test("an erasure that the disk does not take is refused with the file, means nothing, and may be repeated", async (context) => {
  const file = path.join(await tempFolder(context), "erasures.json");
  const erasures = new Erasures(file);
  await erasures.start();
  await mkdir(`${file}.new`);

  await assert.rejects(erasures.add({ entity: "urn:a" }, 1), (error: Error) => {
    assert.match(error.message, /writing the list of erasures to ".*erasures\.json"/);
    return retryableOf(error) === true;
  });
  const refused = erasures.all;
  await rmdir(`${file}.new`);
  await erasures.add({ entity: "urn:a" }, 2);

  assert.deepEqual(refused, []);
  assert.deepEqual(
    erasures.all.map(({ time }) => time),
    [2],
  );
});
