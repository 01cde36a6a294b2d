import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../support/free-port.js";
import { until } from "../support/until.js";
import { Clients, type Sent } from "./clients.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const LONGEST_LIFE_MILLISECONDS = 1200;

export interface CrashPlan {
  /** Properties of the sink that say where it stores. */
  readonly sink: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Of the notifications, in turn. */
  readonly services: readonly string[];
  readonly kills: number;
  readonly clients: number;
  /** Between 0 and 1, for the life of each process. */
  readonly random: () => number;
  /** Something else that goes wrong meanwhile; told to end when the kills are done. */
  readonly trouble?: (ending: AbortSignal) => Promise<void>;
}

export interface CrashEnd {
  readonly sent: Sent;
  readonly unaccounted: number;
}

/**
 * Kills the agent with SIGKILL again and again at random instants, those of its start included, while clients go on
 * sending; then lets it store what is left.
 */
export async function killAgain(plan: CrashPlan): Promise<CrashEnd> {
  const intake = await freePort("127.0.0.1");
  const management = await freePort("127.0.0.1");
  const file = path.join(plan.folder, "agent.properties");
  await writeFile(file, propertiesOf(plan, intake));
  const start = () => startProcess(file, plan.folder, management);
  const clients = new Clients(`http://127.0.0.1:${intake}/notify`, plan.services, plan.clients);
  const ending = new AbortController();
  const trouble = plan.trouble?.(ending.signal);
  try {
    for (let kill = 0; kill < plan.kills; kill += 1) {
      const child = start();
      await pause(plan.random() * LONGEST_LIFE_MILLISECONDS);
      await end(child, "SIGKILL");
    }
  } finally {
    ending.abort();
    await trouble;
  }
  const last = start();
  try {
    await until(async () => clients.accepted, accepts(clients.accepted));
    const sent = await clients.stop();
    return { sent, unaccounted: await settled(management) };
  } finally {
    await clients.stop();
    await end(last, "SIGTERM");
  }
}

/** The clients are through to the last process when some more notifications are accepted. */
function accepts(before: number): (accepted: number) => boolean {
  return (accepted) => accepted > before + 20;
}

function startProcess(file: string, folder: string, management: number): ChildProcess {
  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", String(management)];
  return spawn(process.execPath, [main, "run", ...flags], { stdio: "ignore" });
}

async function end(child: ChildProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

/** Waits until nothing waits in the channel; the ledger's `unaccounted` then. */
async function settled(management: number): Promise<number> {
  const account = async () => {
    const response = await fetch(`http://127.0.0.1:${management}/v1/stats`);
    return JSON.parse(await response.text()).stats.ledger.channels[0];
  };
  // The books are written just after the channel has let an event go; what never comes right fails here.
  const { unaccounted } = await until(account, (sight) => sight.waiting === 0 && sight.unaccounted === 0);
  return unaccounted;
}

function propertiesOf({ sink }: CrashPlan, port: number): string {
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
    "deneb.sinks.s.type = rdb",
    "deneb.sinks.s.channel = c",
    "deneb.sinks.s.data_model = dm-by-entity-type",
    "deneb.sinks.s.batch_ttl = -1",
    "deneb.sinks.s.batch_retry_intervals = 50",
    ...Object.entries(sink).map(([key, value]) => `deneb.sinks.s.${key} = ${value}`),
  ].join("\n");
}
