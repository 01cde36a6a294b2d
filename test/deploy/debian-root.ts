import { cp, mkdir, readdir, realpath, symlink } from "node:fs/promises";
import path from "node:path";
import { installedProgram } from "../support/installed-program.js";
import { madeOnceInRun } from "../support/runner/run-folder.js";
import { tool } from "./tool.js";

/**
 * Makes a root file system of the packages that every Debian 12 has; their files stay in var/cache/apt/archives. Of the
 * test files of one run the first one makes it, and the others take a copy of what it made.
 */
export async function makeDebianRoot(folder: string): Promise<void> {
  const bootstrap = () => tool("debootstrap", ["--variant=minbase", "bookworm", folder]);
  const made = await madeOnceInRun("debian.tar", async (file) => {
    await bootstrap();
    await tool("tar", ["--create", "--one-file-system", "--file", file, "--directory", folder, "."]);
  });
  if (made === undefined) await bootstrap();
  if (made === undefined || made.ours) return;
  await mkdir(folder);
  await tool("tar", [
    "--extract",
    "--preserve-permissions",
    "--numeric-owner",
    "--file",
    made.file,
    "--directory",
    folder,
  ]);
}

/** Puts the node of this machine there, because that of Debian 12 is too old. */
export async function addNode(root: string, folder = "usr/local/bin"): Promise<void> {
  const bin = path.join(root, folder);
  await mkdir(bin, { recursive: true });
  await cp(process.execPath, path.join(bin, "node"));
}

/** Puts the npm of this machine there. */
export async function addNpm(root: string): Promise<void> {
  const program = await installedProgram("npm");
  if (program === undefined) throw new Error("npm is not installed");
  const npm = path.dirname(path.dirname(await realpath(program)));
  const inside = path.join("usr", "local", "lib", "node_modules", "npm");
  await cp(npm, path.join(root, inside), { recursive: true });
  await symlink(path.join("/", inside, "bin", "npm-cli.js"), path.join(root, "usr", "local", "bin", "npm"));
}

/** A root file system with the libraries of C and C++ only, of the packages of another one. */
export async function makeSmallRoot(folder: string, from: string): Promise<void> {
  const archives = path.join(from, "var", "cache", "apt", "archives");
  const packages = (await readdir(archives)).filter((name) => /^(libc6|libgcc-s1|libstdc\+\+6)_.*\.deb$/.test(name));
  if (packages.length !== 3) throw new Error(`of three packages "${archives}" has ${packages.join(", ")}`);
  await mkdir(folder);
  for (const name of packages) await tool("dpkg-deb", ["--extract", path.join(archives, name), folder]);
}
