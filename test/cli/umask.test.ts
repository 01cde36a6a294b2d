import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chown, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { tempFolder } from "../support/temp-folder.js";
import { unprivilegedAccount } from "../support/unprivileged-account.js";

const run = promisify(execFile);
const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));

for (const { umask, folderMode, fileMode } of [
  { umask: "0277", folderMode: 0o700, fileMode: 0o600 },
  { umask: "0027", folderMode: 0o750, fileMode: 0o640 },
])
  test(`folders made with a umask of ${umask} can be written by the process that made them`, async (context) => {
    const folder = await tempFolder(context);
    const account = await unprivilegedAccount("nobody");
    if (account !== undefined) await chown(folder, account.uid, account.gid);
    const file = path.join(folder, "deep", "below", "agent.properties");

    const command = ["-c", `umask ${umask}; exec "$@"`, "sh", process.execPath, main, "init", file];
    await run("sh", command, { ...account, cwd: folder });

    assert.match(await readFile(file, "utf8"), /sources/);
    assert.equal((await stat(path.dirname(file))).mode & 0o777, folderMode);
    assert.equal((await stat(file)).mode & 0o777, fileMode);
  });
