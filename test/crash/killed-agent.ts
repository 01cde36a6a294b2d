import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { reasonOf } from "../../core/sdk/index.js";
import { settledBooks } from "../support/channel-books.js";
import { endingWithProcess } from "../support/ends-with-process.js";
import { freePort } from "../support/free-port.js";
import { until } from "../support/until.js";
import { Clients, type Numbering, type Sent } from "./clients.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const LONGEST_LIFE_MILLISECONDS = 1200;
/** Of the output of the agents, told when a test fails. */
const LAST_LINES = 25;

export interface CrashPlan {
  /** Properties of the sink that say where it stores, and others that win over those of the tests. */
  readonly sink: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Further words of the command line. */
  readonly flags?: readonly string[];
  /** 0 lets one process live through the trouble. */
  readonly kills: number;
  readonly clients: Numbering;
  /** Between 0 and 1, for the life of each process. */
  readonly random: () => number;
  /** Something else that goes wrong meanwhile; told to end when the kills are done. */
  readonly trouble?: Trouble;
  /** Further lines of the properties file. */
  readonly lines?: readonly string[];
  /** Milliseconds that the last process may take to store what is left; 30,000 unless told. */
  readonly patience?: number;
}

/** Goes wrong until the signal aborts, or until it is done; mends what it broke before it ends. */
export type Trouble = (ending: AbortSignal) => Promise<void>;

export interface CrashEnd {
  readonly sent: Sent;
  /** What the dead letters keep. */
  readonly letters: readonly Letter[];
}

export interface Letter {
  readonly reason: string;
  readonly number: number;
}

/**
 * Kills the agent with SIGKILL again and again at random instants, those of its start included, while clients go on
 * sending; then lets it store what is left until nothing waits and nothing is unaccounted for. Looks at the end, with an
 * agent that still runs.
 */
export async function killAgain(
  plan: CrashPlan,
  look: (managementUrl: string) => Promise<void> = async () => {},
): Promise<CrashEnd> {
  const intake = await freePort("127.0.0.1");
  const management = await freePort("127.0.0.1");
  const file = path.join(plan.folder, "agent.properties");
  await writeFile(file, propertiesOf(plan, intake));
  const start = () => startProcess(file, plan, management);
  const clients = new Clients(`http://127.0.0.1:${intake}/notify`, plan.clients);
  let child = start();
  try {
    if (plan.kills === 0) await livesThrough(plan, clients);
    else child = await diesThrough(plan, { child, start, clients });
    await until(async () => clients.accepted, accepts(clients.accepted), plan.patience);
    const sent = await clients.stop();
    const url = `http://127.0.0.1:${management}`;
    await until(() => isReachable(url), Boolean, plan.patience);
    await settledBooks({ managementUrl: url }, plan.patience);
    const letters = await lettersIn(plan.folder);
    await look(url);
    if (ended(child)) throw new Error("the agent ended although nobody killed it");
    return { sent, letters };
  } catch (error) {
    throw new Error(`${reasonOf(error)}; the agent wrote last:\n${await lastLinesOf(plan.folder)}`, { cause: error });
  } finally {
    await clients.stop();
    await end(child, "SIGTERM");
  }
}

async function livesThrough({ trouble }: CrashPlan, clients: Clients): Promise<void> {
  await until(async () => clients.accepted, accepts(0));
  await trouble?.(new AbortController().signal);
}

interface Deaths {
  readonly child: ChildProcess;
  readonly start: () => ChildProcess;
  readonly clients: Clients;
}

/** The process that is left to live. Every second one is killed under load, the others at any instant of their start. */
async function diesThrough(plan: CrashPlan, { child: first, start, clients }: Deaths): Promise<ChildProcess> {
  const ending = new AbortController();
  const trouble = plan.trouble?.(ending.signal);
  let child = first;
  try {
    for (let kill = 0; kill < plan.kills; kill += 1) {
      if (kill % 2 === 1) await until(async () => clients.accepted, accepts(clients.accepted), plan.patience);
      await pause(plan.random() * LONGEST_LIFE_MILLISECONDS);
      await end(child, "SIGKILL");
      child = start();
    }
  } finally {
    ending.abort();
    await trouble;
  }
  return child;
}

/** The clients are through to the last process when some more notifications are accepted. */
function accepts(before: number): (accepted: number) => boolean {
  return (accepted) => accepted > before + 20;
}

function startProcess(file: string, { folder, flags: more = [] }: CrashPlan, management: number): ChildProcess {
  const flags = [
    ...more,
    "--config",
    file,
    "--data-dir",
    path.join(folder, "data"),
    "--management-port",
    String(management),
  ];
  const output = openSync(outputIn(folder), "a");
  try {
    return endingWithProcess(spawn(process.execPath, [main, "run", ...flags], { stdio: ["ignore", output, output] }));
  } finally {
    closeSync(output);
  }
}

function outputIn(folder: string): string {
  return path.join(folder, "output.txt");
}

async function lastLinesOf(folder: string): Promise<string> {
  const text = await readFile(outputIn(folder), "utf8").catch(() => "");
  return text.split("\n").slice(-LAST_LINES).join("\n");
}

async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (ended(child)) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

function ended({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** The management interface listens a moment after the sources: brokers need not wait for it. */
async function isReachable(url: string): Promise<boolean> {
  return await fetch(`${url}/v1/version`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Those that are in the file of the sink, replayed or not. */
async function lettersIn(folder: string): Promise<readonly Letter[]> {
  const file = path.join(folder, "data", "dead-letters", "s.ndjson");
  const text = await readFile(file, "utf8").catch(() => "");
  const records = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return records
    .filter(({ mark }) => mark === undefined)
    .map(({ reason, event }) => ({ reason, number: numberOf(event) }));
}

function numberOf({ body }: { readonly body: unknown }): number {
  const [, number] = JSON.stringify(body).match(/"number":.*?(\d+)/) ?? [];
  return Number(number);
}

const usual = { batch_ttl: "-1", batch_retry_intervals: "100" } as const;
const rdb = { type: "rdb", data_model: "dm-by-entity-type" } as const;

function propertiesOf({ sink, lines = [] }: CrashPlan, port: number): string {
  const merged = { ...usual, ...(sink["type"] === undefined ? rdb : {}), ...sink };
  return [
    "deneb.sources = http-source",
    "deneb.channels = c",
    "deneb.sinks = s",
    "deneb.sources.http-source.type = http",
    "deneb.sources.http-source.channels = c",
    "deneb.sources.http-source.bind = 127.0.0.1",
    `deneb.sources.http-source.port = ${port}`,
    "deneb.sources.http-source.handler = ngsi",
    "deneb.channels.c.type = file",
    "deneb.sinks.s.channel = c",
    ...Object.entries(merged).map(([key, value]) => `deneb.sinks.s.${key} = ${value}`),
    ...lines,
  ].join("\n");
}
