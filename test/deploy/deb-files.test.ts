import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { brokenLinks } from "../repository/page-links.js";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { tool, without } from "./tool.js";

const skip = await without(["dpkg-deb"]);
const folder = await mkdtemp(path.join(tmpdir(), "deneb-deb-files-"));
const unpacked = path.join(folder, "unpacked");
/** Mode and path of each file of the package. */
let listed: readonly { readonly mode: string; readonly file: string }[] = [];

before(async () => {
  if (skip !== false) return;
  const checkout = path.join(folder, "checkout");
  await privateCheckout(checkout);
  const script = path.join(checkout, "deploy", "debian", "build-deb.mjs");
  const built = await tool(process.execPath, [script, "--out", folder, "--compression", "none"]);
  const lines = (await tool("dpkg-deb", ["--contents", built.trim()])).trim().split("\n");
  listed = lines.map((line) => ({ mode: line.slice(0, 10), file: line.split(" ./")[1]?.split(" ")[0] ?? "" }));
  await tool("dpkg-deb", ["--extract", built.trim(), unpacked]);
});
after(() => rm(folder, { recursive: true }));

test("everybody can read the package of a checkout with private files, apart from the environment of the service", {
  skip,
}, () => {
  const unreadable = listed.filter(({ mode }) => !/^(-rw-r--r--|-rwxr-xr-x|drwxr-xr-x|lrwxrwxrwx)$/.test(mode));

  assert.deepEqual(unreadable, [{ mode: "-rw-r-----", file: "etc/default/deneb" }]);
});

test("every link between the pages of the package leads somewhere", { skip }, async () => {
  const documents = path.join(unpacked, "usr", "share", "doc", "deneb");
  const found = await tool("find", ["-L", ".", "-type", "f", "-printf", "%P\\n"], { cwd: documents });

  const files = found.trim().split("\n");
  assert.ok(files.includes("docs/deployment.md"));
  assert.deepEqual(await brokenLinks(documents, files), []);
});

/** What is in git and what was built, as a user with umask 077 has it; the packages are those of this checkout. */
async function privateCheckout(checkout: string): Promise<void> {
  const names = new Set((await repositoryFiles()).map((file) => file.split("/")[0] ?? ""));
  await mkdir(checkout);
  for (const name of [...names, "dist"])
    await cp(path.join(repositoryRoot, name), path.join(checkout, name), { recursive: true });
  await tool("chmod", ["-R", "go=", checkout]);
  await symlink(path.join(repositoryRoot, "node_modules"), path.join(checkout, "node_modules"));
}
