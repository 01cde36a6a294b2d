import assert from "node:assert/strict";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { ran } from "./example-package.js";
import { repositoryFiles, repositoryRoot } from "./repository.js";
import { writeFiles } from "./written-files.js";

export interface PackedPackage {
  /** Where the files of the package are, as installed, with what it depends on beside it. */
  readonly folder: string;
  /** The folder that it was installed in. */
  readonly parent: string;
  /** The packed file. */
  readonly tarball: string;
  /** Paths of its files. */
  readonly files: readonly string[];
  remove(): Promise<void>;
}

/** Packs a copy of the repository as `npm publish` would, with its build, and unpacks it where npm would install it. */
export async function packedPackage(revision: string): Promise<PackedPackage> {
  const parent = await mkdtemp(path.join(tmpdir(), "deneb-packed-"));
  const source = path.join(parent, "source");
  const files = (await repositoryFiles()).filter((file) => file !== ".git" && !isTest(file));
  for (const file of files) await cp(path.join(repositoryRoot, file), path.join(source, file));
  await writeFiles(source, { "test/one.test.ts": "export {};\n" });
  await symlink(path.join(repositoryRoot, "node_modules"), path.join(source, "node_modules"));
  // What an earlier build left must not be packed.
  await cp(path.join(repositoryRoot, "LICENSE"), path.join(source, "dist", "core", "left-behind.js"));
  const { code, output } = await ran("npm", ["pack", "--pack-destination", parent], {
    cwd: source,
    env: { DENEB_REVISION: revision },
  });
  assert.equal(code, 0, output);
  const name = (await readdir(parent)).find((one) => one.endsWith(".tgz")) ?? "";
  const modules = path.join(parent, "node_modules");
  const folder = path.join(modules, "deneb");
  await mkdir(folder, { recursive: true });
  const tarball = path.join(parent, name);
  const unpacked = await ran("tar", ["-xzf", tarball, "-C", folder, "--strip-components=1"], { cwd: parent });
  assert.equal(unpacked.code, 0, unpacked.output);
  await linkPackages(path.join(repositoryRoot, "node_modules"), modules);
  const unpackedFiles = await filesBelow(folder);
  return { folder, parent, tarball, files: unpackedFiles, remove: () => rm(parent, { recursive: true, force: true }) };
}

/** Tests are compiled with the program and not packed; one stands for all of them. The examples and the pages about them are packed. */
function isTest(file: string): boolean {
  return file.startsWith("test/") && !/^test\/(?:examples\/|frozen\/README\.md$)/.test(file);
}

async function linkPackages(from: string, to: string): Promise<void> {
  const names = (await readdir(from)).filter((name) => !name.startsWith(".") && name !== "deneb");
  for (const name of names) await symlink(path.join(from, name), path.join(to, name));
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"))
    .toSorted();
}
