import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { repositoryRoot } from "./repository.js";
import { madeOnceInRun } from "./runner/run-folder.js";

/** Where an example of a plugin is kept. */
export function exampleFolder(name: string): string {
  return path.join(repositoryRoot, "test", "examples", name);
}

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Runs npm in a folder, as its author would. */
export function npm(folder: string, ...args: readonly string[]): Promise<Ran> {
  return ran("npm", args, { cwd: folder });
}

interface Running {
  readonly cwd: string;
  /** Further variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program to its end. */
export function ran(program: string, args: readonly string[], { cwd, env: further }: Running): Promise<Ran> {
  return new Promise((resolve) => {
    // The variables of the runner of this test would make the inner one report to it.
    const { NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
    const child = execFile(program, [...args], { cwd, env: { ...inherited, ...further } }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, output: `${stdout}${stderr}` });
    });
  });
}

/** What `npm install` would put there, without a registry. */
export async function install(folder: string, ...packages: readonly string[]): Promise<void> {
  const modules = path.join(folder, "node_modules");
  await mkdir(path.join(modules, "@types"), { recursive: true });
  await symlink(repositoryRoot, path.join(modules, "deneb"));
  for (const name of packages) await mkdir(path.dirname(path.join(modules, name)), { recursive: true });
  for (const name of [".bin", "typescript", "@types/node", "undici-types", ...packages]) {
    await symlink(path.join(repositoryRoot, "node_modules", name), path.join(modules, name));
  }
}

export interface BuiltExample {
  readonly folder: string;
  remove(): Promise<void>;
}

/** A copy of an example in a folder of its own, built; of the test files of one run the first one builds it. */
export async function builtExample(name: string, ...packages: readonly string[]): Promise<BuiltExample> {
  const parent = await mkdtemp(path.join(tmpdir(), "deneb-example-"));
  const folder = path.join(parent, name);
  const build = async (place: string) => {
    await cp(exampleFolder(name), place, { recursive: true, filter: (from) => !/(node_modules|dist)$/.test(from) });
    await install(place, ...packages);
    const { code, output } = await ran(path.join(place, "node_modules", ".bin", "tsc"), [], { cwd: place });
    assert.equal(code, 0, output);
  };
  const made = await madeOnceInRun(`example-${name}`, build);
  if (made === undefined) await build(folder);
  else await cp(made.file, folder, { recursive: true });
  return { folder, remove: () => rm(parent, { recursive: true, force: true }) };
}
