import { cp, mkdir, readdir, realpath, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { installedProgram } from "../support/installed-program.js";
import { madeOnceInRun } from "../support/runner/run-folder.js";
import { tool } from "./tool.js";

/**
 * A root file system of the packages that every Debian 12 has; their files stay in var/cache/apt/archives. Of the test files
 * of one run the first one makes it: it is for reading. Below the folder where there is no run.
 */
export async function debianRoot(folder: string): Promise<string> {
  const made = await madeOnceInRun("debian", bootstrap);
  if (made !== undefined) return made.file;
  const root = path.join(folder, "debian");
  await bootstrap(root);
  return root;
}

async function bootstrap(root: string): Promise<void> {
  const settings = path.join(root, "etc", "dpkg", "dpkg.cfg.d");
  await mkdir(settings, { recursive: true });
  // Nobody needs the files after a crash of the machine.
  await writeFile(path.join(settings, "unsafe-io"), "force-unsafe-io\n");
  await tool("debootstrap", ["--variant=minbase", "bookworm", root]);
}

/** Puts a program there as node: that of this machine, because that of Debian 12 is too old. */
export async function addNode(root: string, folder = "usr/local/bin", program = process.execPath): Promise<void> {
  const bin = path.join(root, folder);
  await mkdir(bin, { recursive: true });
  await cp(program, path.join(bin, "node"));
}

/** Puts the npm of this machine there. */
export async function addNpm(root: string): Promise<void> {
  const program = await installedProgram("npm");
  if (program === undefined) throw new Error("npm is not installed");
  const npm = path.dirname(path.dirname(await realpath(program)));
  const inside = path.join("usr", "local", "lib", "node_modules", "npm");
  await mkdir(path.dirname(path.join(root, inside)), { recursive: true });
  await tool("cp", ["-R", npm, path.join(root, inside)]);
  await symlink(path.join("/", inside, "bin", "npm-cli.js"), path.join(root, "usr", "local", "bin", "npm"));
}

/** Names of packages, without those that they depend on. */
const libraries = ["libc6", "libgcc-s1", "libstdc++6"] as const;
const shell = ["base-files", "dash", "coreutils", "findutils", "tar", "gzip"] as const;
const ofShell = ["libacl1", "libattr1", "libgmp10", "libpcre2-8-0", "libselinux1"] as const;

/** A root file system with the libraries of C and C++ only, of the packages of another one. */
export function makeSmallRoot(folder: string, from: string): Promise<void> {
  return unpack(folder, from, libraries);
}

/** One with a shell and its programs, too. */
export function makeShellRoot(folder: string, from: string): Promise<void> {
  return unpack(folder, from, [...libraries, ...shell, ...ofShell]);
}

async function unpack(folder: string, from: string, packages: readonly string[]): Promise<void> {
  const archives = path.join(from, "var", "cache", "apt", "archives");
  const files = await readdir(archives);
  await mkdir(folder);
  for (const name of packages) {
    const file = files.find((one) => one.startsWith(`${name}_`));
    if (file === undefined) throw new Error(`"${archives}" has no package "${name}"`);
    await tool("dpkg-deb", ["--extract", path.join(archives, file), folder]);
  }
}
