import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { madeOnceInRun } from "../support/runner/run-folder.js";
import { addNode, debianRoot } from "./debian-root.js";
import { tool } from "./tool.js";

/** A Debian 12 in a folder. */
export interface DebianMachine {
  readonly root: string;
  /** Folder for packages, outside of it. */
  readonly folder: string;
  /** Runs a program in it, as root. */
  run(...command: readonly string[]): Promise<string>;
  /** Copies a package into it and installs it. */
  install(...packages: readonly string[]): Promise<string>;
  /** What its scripts asked systemd for, a stand-in, since the last time. */
  systemdCalls(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

export async function debianMachine(): Promise<DebianMachine> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-debian-"));
  const root = path.join(folder, "root");
  await tool("cp", ["-a", await debianRoot(folder), root]);
  const calls = path.join(root, "var", "log", "systemctl");
  await mkdir(path.join(root, "run", "systemd", "system"), { recursive: true });
  const systemctl = path.join(root, "usr", "bin", "systemctl");
  await writeFile(systemctl, '#!/bin/sh\necho "$@" >> /var/log/systemctl\n');
  await chmod(systemctl, 0o755);
  const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const run = (...command: readonly string[]) => tool("chroot", [root, ...command], { env, clean: true });
  return {
    root,
    folder,
    run,
    async install(...packages) {
      const names = packages.map((file) => path.basename(file));
      for (const [index, file] of packages.entries())
        await tool("cp", [file, path.join(root, "tmp", names[index] ?? "")]);
      return await run("dpkg", "--install", ...names.map((name) => `/tmp/${name}`));
    },
    async systemdCalls() {
      const text = await readFile(calls, "utf8").catch(() => "");
      await rm(calls, { force: true });
      return text.split("\n").filter((line) => line !== "");
    },
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/**
 * The package of a checkout with private files, version 1.0.0. Of the test files of one run the first one builds it. In the
 * folder where there is no run.
 */
export async function builtDeb(folder: string): Promise<string> {
  const build = async (file: string) => {
    const checkout = path.join(folder, "checkout");
    await privateCheckout(checkout);
    const script = path.join(checkout, "deploy", "debian", "build-deb.mjs");
    const options = ["--out", folder, "--version", "1.0.0", "--compression", "none"];
    const built = await tool(process.execPath, [script, ...options]);
    await rename(built.trim(), file);
  };
  const made = await madeOnceInRun("deneb.deb", build);
  if (made !== undefined) return made.file;
  const own = path.join(folder, "deneb.deb");
  await build(own);
  return own;
}

/** What is in git and what was built, as a user with umask 077 has it; the packages are those of this checkout. */
async function privateCheckout(checkout: string): Promise<void> {
  const names = new Set((await repositoryFiles()).map((file) => file.split("/")[0] ?? ""));
  await mkdir(checkout);
  await tool("cp", ["-R", ...names, "dist", checkout], { cwd: repositoryRoot });
  await tool("chmod", ["-R", "go=", checkout]);
  await symlink(path.join(repositoryRoot, "node_modules"), path.join(checkout, "node_modules"));
}

/** The same package under another version. */
export async function laterDeb(folder: string, deb: string, version: string): Promise<string> {
  const root = path.join(folder, `deneb-${version}`);
  await tool("dpkg-deb", ["--raw-extract", deb, root]);
  const control = path.join(root, "DEBIAN", "control");
  await writeFile(control, (await readFile(control, "utf8")).replace(/^Version: .*$/m, `Version: ${version}`));
  return await packed(root);
}

/** A program as the node of a package, in place of that of NodeSource or of Debian 13. */
export async function buildNodeDeb(folder: string, version: string, program?: string): Promise<string> {
  const root = path.join(folder, `nodejs-${version}`);
  await mkdir(path.join(root, "DEBIAN"), { recursive: true });
  await addNode(root, "usr/bin", program);
  const architecture = (await tool("dpkg", ["--print-architecture"])).trim();
  const fields = ["Package: nodejs", `Version: ${version}`, `Architecture: ${architecture}`, "Maintainer: nobody"];
  await writeFile(path.join(root, "DEBIAN", "control"), `${fields.join("\n")}\nDescription: node\n`);
  return await packed(root);
}

async function packed(root: string): Promise<string> {
  await tool("dpkg-deb", ["-Znone", "--root-owner-group", "--build", root, `${root}.deb`]);
  await rm(root, { recursive: true });
  return `${root}.deb`;
}

/** Starts what the installed unit says, as its user, with its environment; resolves when the agent is ready. */
export async function startUnit(context: Pick<TestContext, "after">, { root }: DebianMachine) {
  const unit = await readFile(path.join(root, "usr/lib/systemd/system/deneb.service"), "utf8");
  const all = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
  const file = (all("EnvironmentFile")[0] ?? "").replace(/^-/, "");
  const settings = (await readFile(path.join(root, file), "utf8")).split("\n").filter((line) => /^\w+=/.test(line));
  const variables = [...all("Environment"), ...settings].map((one) => [
    one.split("=")[0],
    one.split("=").slice(1).join("="),
  ]);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", ...Object.fromEntries(variables) };
  const account = `--userspec=${all("User")[0]}:${all("Group")[0]}`;
  const words = (all("ExecStart")[0] ?? "").split(" ");
  const child = spawn("/usr/sbin/chroot", [account, "--groups=", root, ...words], { env, stdio: "pipe" });
  const exited = once(child, "close");
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const lines: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    for (const input of [child.stdout, child.stderr]) {
      createInterface({ input }).on("line", (line) => {
        lines.push(line);
        if (line.includes('"msg":"ready"')) resolve();
      });
    }
    void exited.then(() => reject(new Error(`the agent ended: ${lines.join("\n")}`)));
  });
  await ready;
  return {
    pid: child.pid,
    async stop(): Promise<number | null> {
      child.kill("SIGTERM");
      const [code] = await exited;
      return code;
    },
  };
}
