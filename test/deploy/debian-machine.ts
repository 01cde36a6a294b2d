import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { repositoryRoot } from "../support/repository.js";
import { addNode, makeDebianRoot } from "./debian-root.js";
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
  await makeDebianRoot(root);
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

/** The package of this checkout, under a version. */
export async function buildDeb(folder: string, version: string): Promise<string> {
  const script = path.join(repositoryRoot, "deploy", "debian", "build-deb.mjs");
  const options = ["--out", folder, "--version", version, "--compression", "none"];
  return (await tool(process.execPath, [script, ...options])).trim();
}

/** The node of this machine as a package, in place of that of NodeSource or of Debian 13. */
export async function buildNodeDeb(folder: string, version: string): Promise<string> {
  const root = path.join(folder, `nodejs-${version}`);
  await mkdir(path.join(root, "DEBIAN"), { recursive: true });
  await addNode(root, "usr/bin");
  const architecture = (await tool("dpkg", ["--print-architecture"])).trim();
  const fields = ["Package: nodejs", `Version: ${version}`, `Architecture: ${architecture}`, "Maintainer: nobody"];
  await writeFile(path.join(root, "DEBIAN", "control"), `${fields.join("\n")}\nDescription: node\n`);
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
