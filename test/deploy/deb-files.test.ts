import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { brokenLinks } from "../repository/page-links.js";
import { builtDeb } from "./debian-machine.js";
import { tool, without } from "./tool.js";

const skip = await without(["dpkg-deb"]);
const folder = await mkdtemp(path.join(tmpdir(), "deneb-deb-files-"));
const unpacked = path.join(folder, "unpacked");
let built = "";
/** Mode and path of each file of the package. */
let listed: readonly { readonly mode: string; readonly file: string }[] = [];

before(async () => {
  if (skip !== false) return;
  built = await builtDeb(folder);
  const lines = (await tool("dpkg-deb", ["--contents", built])).trim().split("\n");
  listed = lines.map((line) => ({ mode: line.slice(0, 10), file: line.split(" ./")[1]?.split(" ")[0] ?? "" }));
  await tool("dpkg-deb", ["--extract", built, unpacked]);
});
after(() => rm(folder, { recursive: true }));

test("everybody can read the package of a checkout with private files, apart from the environment of the service", {
  skip,
}, () => {
  const unreadable = listed.filter(({ mode }) => !/^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx)$/.test(mode));

  assert.deepEqual(unreadable, [{ mode: "-rw-r-----", file: "etc/default/deneb" }]);
});

test("the package asks for the program with which its unit reloads", { skip }, async () => {
  const recommended = await tool("dpkg-deb", ["--field", built, "Recommends"]);
  const unit = await readFile(path.join(unpacked, "usr", "lib", "systemd", "system", "deneb.service"), "utf8");

  assert.match(unit, /^ExecReload=\/bin\/kill /m);
  assert.equal(recommended.trim(), "procps");
});

test("every link between the pages of the package leads somewhere", { skip }, async () => {
  const documents = path.join(unpacked, "usr", "share", "doc", "deneb");
  const found = await tool("find", ["-L", ".", "-type", "f", "-printf", "%P\\n"], { cwd: documents });

  const files = found.trim().split("\n");
  assert.ok(files.includes("docs/deployment.md"));
  assert.deepEqual(await brokenLinks(documents, files), []);
});
