import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { remedyOfRefusal } from "../../core/files/refused-access.js";
import { tempFolder } from "../support/temp-folder.js";

test("where the system permits nobody to change a file, what may protect it is named", async (context) => {
  const folder = await tempFolder(context);
  const refused = (code: string) => Object.assign(new Error(code), { code, path: path.join(folder, "checkpoint") });

  const remedies = await Promise.all(["EPERM", "EACCES"].map((code) => remedyOfRefusal(refused(code))));

  const right = `give this user the right to use "${folder}"`;
  assert.deepEqual(remedies, [`${right}, or take an attribute from it that protects it (lsattr, chattr -i -a)`, right]);
});
