import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import { endingWithProcess } from "./ends-with-process.js";
import { freePort } from "./free-port.js";
import { installedProgram } from "./installed-program.js";
import { tempFolder } from "./temp-folder.js";
import { until } from "./until.js";

/** What a program printed, both streams, and its exit code. */
export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** Where promtool is installed; skips the test where it is not. */
export async function promtool(context: TestContext): Promise<((...args: string[]) => Promise<Ran>) | undefined> {
  const program = await installedProgram("promtool");
  if (program === undefined) {
    context.skip("no promtool installed here");
    return undefined;
  }
  return async (...args) => {
    try {
      const { stdout, stderr } = await promisify(execFile)(program, args, { maxBuffer: 2 ** 26 });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      return failed(error);
    }
  };
}

function failed(error: unknown): Ran {
  const { code, stdout, stderr } = Object(error);
  return { code: typeof code === "number" ? code : -1, output: `${stdout ?? ""}${stderr ?? ""}${error}` };
}

/** What `promtool check metrics` says of metrics in the text format. */
export async function lint(context: TestContext, metrics: string): Promise<Ran | undefined> {
  const program = await installedProgram("promtool");
  if (program === undefined) {
    context.skip("no promtool installed here");
    return undefined;
  }
  const child = spawn(program, ["check", "metrics"], { stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk));
  child.stdin.end(metrics);
  const [code] = await once(child, "close");
  return { code: Number(code ?? -1), output };
}

export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: string;
}

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [time: number, value: string];
}

/** A Prometheus that belongs to a test. */
export interface OwnPrometheus {
  alerts(): Promise<readonly Alert[]>;
  query(expression: string): Promise<readonly Sample[]>;
}

export interface Scraping {
  readonly rules: string;
  /** Scrape jobs by name, each with the `host:port` of its target, and the token that it takes. */
  readonly jobs: Readonly<Record<string, { readonly target: string; readonly token?: string }>>;
}

/** Starts a Prometheus that scrapes each second; skips the test where none is installed. */
export async function ownPrometheus(
  context: TestContext,
  { rules, jobs }: Scraping,
): Promise<OwnPrometheus | undefined> {
  const program = await installedProgram("prometheus");
  if (program === undefined) {
    context.skip("no prometheus installed here, the package of promtool has it");
    return undefined;
  }
  const folder = await tempFolder(context);
  const port = await freePort("127.0.0.1");
  const configuration = {
    global: { scrape_interval: "1s", evaluation_interval: "1s" },
    rule_files: [rules],
    scrape_configs: Object.entries(jobs).map(([job, { target, token }]) => ({
      job_name: job,
      static_configs: [{ targets: [target] }],
      ...(token === undefined ? {} : { authorization: { credentials: token } }),
    })),
  };
  const file = join(folder, "prometheus.json");
  await writeFile(file, JSON.stringify(configuration));
  const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, "tsdb")}`, "--log.level=warn"];
  const all = [...flags, `--web.listen-address=127.0.0.1:${port}`];
  const child = endingWithProcess(spawn(program, all, { stdio: "ignore" }));
  const exited = once(child, "exit");
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
  });
  const base = `http://127.0.0.1:${port}`;
  await until(
    async () => (await fetch(`${base}/-/ready`).catch(() => undefined))?.status,
    (status) => status === 200,
  );
  const asked = async (path: string) => JSON.parse(await (await fetch(`${base}/api/v1/${path}`)).text());
  return {
    alerts: async () => (await asked("alerts")).data.alerts,
    query: async (expression) => {
      const { status, error, data } = await asked(`query?query=${encodeURIComponent(expression)}`);
      if (status !== "success") throw new Error(`${expression}: ${error}`);
      return data.resultType === "vector" ? data.result : [{ metric: {}, value: data.result }];
    },
  };
}
