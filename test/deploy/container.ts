import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { until } from "../support/until.js";
import type { BuiltImage, ImageConfig } from "./image.js";
import { tool } from "./tool.js";

export interface ContainerSetup {
  readonly env?: Readonly<Record<string, string>>;
  /** Files of the machine by where they are in the container. */
  readonly files?: Readonly<Record<string, string>>;
  /** Instead of the command of the image. */
  readonly command?: readonly string[];
  /** Folder that is the volume. */
  readonly volume: string;
}

/** What a container ends with: a test, or all of a file. */
export interface Ending {
  after(end: () => unknown): void;
}

export interface RunningContainer {
  /** The number of its first process, seen from the machine. */
  readonly pid: number;
  readonly lines: readonly string[];
  /** Runs a program in it, as `exec` of an engine does; resolves to what it printed. */
  exec(...command: readonly string[]): Promise<string>;
  /** Sends the signal to the first process; resolves to its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/**
 * Runs a container as the configuration of its image asks an engine to: entry point, environment, user, working folder and
 * volume, with a read-only root, process numbers of its own, no capability and no way to a new one. The network is the
 * machine's.
 */
export async function startContainer(
  context: Ending,
  image: BuiltImage,
  setup: ContainerSetup,
): Promise<RunningContainer> {
  const { config, root } = image;
  const [uid = "", gid = uid] = config.User.split(":");
  await makeMountPoints(root, setup);
  const words = [...config.Entrypoint, ...(setup.command ?? config.Cmd)];
  const env = { ...variablesOf(config), ...setup.env };
  const outside = ["--mount", "--pid", "--ipc", "--uts", "--fork"];
  const inside = ["--no-new-privs"];
  const chroot = ["chroot", `--userspec=${uid}:${gid}`, "--groups=", root];
  const script = [...mountsOf(root, config, setup), `exec setpriv ${inside.join(" ")} ${chroot.join(" ")} "$@"`];
  const child = spawn("unshare", [...outside, "sh", "-ec", script.join("\n"), "container", ...words], {
    env,
    stdio: "pipe",
  });
  const exited = once(child, "close");
  context.after(async () => {
    const pid = await childOf(child);
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    await exited;
  });
  const lines = linesOf(child);
  const pid = await firstProcess(child, exited, lines);
  return {
    pid,
    lines,
    exec: (...command) => {
      const entered = ["--target", String(pid), "--mount", "--pid", "--root", `--wd=${root}${config.WorkingDir}`];
      return tool("nsenter", [...entered, `--setuid=${uid}`, `--setgid=${gid}`, ...command], { env, clean: true });
    },
    async end(signal) {
      process.kill(pid, signal);
      const [code] = await exited;
      return code;
    },
  };
}

function mountsOf(root: string, { Volumes }: ImageConfig, { volume, files = {} }: ContainerSetup): readonly string[] {
  const targets = Object.keys(Volumes);
  return [
    "mount --make-rprivate /",
    `mount --bind ${root} ${root}`,
    ...Object.entries(files).map(([inside, outside]) => `mount --bind ${outside} ${root}${inside}`),
    `mount -o remount,bind,ro ${root}`,
    ...targets.map((target) => `mount --bind ${volume} ${root}${target}`),
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t proc proc ${root}/proc`,
    ...devices.map((name) => `mount --bind ${name} ${root}${name}`),
  ];
}

const devices = ["/dev/null", "/dev/urandom"] as const;

/** What an engine adds to the files of an image. */
async function makeMountPoints(root: string, { files = {} }: ContainerSetup): Promise<void> {
  for (const folder of ["proc", "dev", "tmp"]) await mkdir(path.join(root, folder), { recursive: true });
  for (const file of [...devices, ...Object.keys(files)]) {
    await mkdir(path.join(root, path.dirname(file)), { recursive: true });
    await writeFile(path.join(root, file), "", { flag: "a" });
  }
}

function variablesOf({ Env }: ImageConfig): Readonly<Record<string, string>> {
  return Object.fromEntries(Env.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]));
}

function linesOf({ stdout, stderr }: ChildProcess): readonly string[] {
  const lines: string[] = [];
  for (const input of [stdout, stderr]) {
    if (input !== null) createInterface({ input }).on("line", (line) => lines.push(line));
  }
  return lines;
}

/** Waits until the agent is ready: it is the only child of the process that made the namespaces. */
async function firstProcess(child: ChildProcess, exited: Promise<unknown>, lines: readonly string[]): Promise<number> {
  let hasEnded = false;
  void exited.then(() => {
    hasEnded = true;
  });
  await until(
    async () => (hasEnded ? "ended" : lines.some((line) => line.includes('"msg":"ready"')) ? "ready" : "starting"),
    (state) => state !== "starting",
  );
  if (hasEnded) throw new Error(`the container ended: ${lines.join("\n")}`);
  const pid = await childOf(child);
  if (pid === undefined) throw new Error("the container has no process");
  return pid;
}

/** The first process of the container; undefined after its end. */
async function childOf({ pid }: ChildProcess): Promise<number | undefined> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => "");
  return children.trim() === "" ? undefined : Number(children.trim());
}
