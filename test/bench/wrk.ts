import { execFile } from "node:child_process";
import { access, constants, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { LoadOrder, LoadResult } from "./load.js";
import { requestsOf, wireOf } from "./requests.js";
import { wrkScript } from "./wrk-script.js";

const run = promisify(execFile);

/** Whether the program wrk is on PATH. */
export async function wrkIsThere(): Promise<boolean> {
  const folders = (process.env["PATH"] ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const looks = folders.map((folder) => access(path.join(folder, "wrk"), constants.X_OK));
  return (await Promise.allSettled(looks)).some(({ status }) => status === "fulfilled");
}

/** The load generator wrk with one thread; its connections take turns over all requests. */
export async function wrkLoad({ url, service, seconds, connections, rate, bodies }: LoadOrder): Promise<LoadResult> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-wrk-"));
  try {
    const script = path.join(folder, "load.lua");
    const file = path.join(folder, "requests");
    await writeFile(file, withLengths(requestsOf(bodies, service).map((request) => wireOf(request, url))));
    await writeFile(script, wrkScript({ file, rate }));
    const flags = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "30s", "-s", script, url];
    const { stdout } = await run("wrk", flags);
    const endedAt = Date.now();
    const result = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    return { ...result, unanswered: connections + result.failed, startedAt: endedAt - result.seconds * 1000 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each one behind a line with its length. */
function withLengths(wires: readonly Buffer[]): Buffer {
  return Buffer.concat(wires.flatMap((wire) => [Buffer.from(`${wire.length}\n`), wire]));
}
