import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Ledger, startAgentProcess } from "./agent-process.js";
import type { BenchCase } from "./case.js";
import { headersOf, notificationBodies } from "./notifications.js";
import { type ServerProcess, startServer } from "./server-process.js";
import { type BenchStore, storeOf } from "./store.js";

/** A system under load, started and ready. */
export interface SystemUnderTest {
  readonly notifyUrl: string;
  readonly service: string;
  readonly server: ServerProcess;
  /** Milliseconds from the start of the process to its first answer 200. */
  readonly startMilliseconds: number;
  /** Undefined where nothing is stored. */
  readonly store: BenchStore | undefined;
  /** What the agent says of the events it has taken in; undefined where there is no agent to ask. */
  readonly ledger: (() => Promise<Ledger>) | undefined;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The agent can be asked for its memory. */
  readonly probed?: boolean;
}

/** Its first notification has been answered 200. */
export async function startSystem(bench: BenchCase, options: StartOptions = {}): Promise<SystemUnderTest> {
  return await starters[bench.system](bench, options);
}

const starters = { agent: startAgent, "by-hand": startByHand, "bare-http": startBareHttp } satisfies Record<
  BenchCase["system"],
  (bench: BenchCase, options: StartOptions) => Promise<SystemUnderTest>
>;

async function startAgent(bench: BenchCase, options: StartOptions): Promise<SystemUnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
  const store = await storeOf(bench.database, path.join(folder, "data"));
  const clear = async () => {
    await store.drop();
    await rm(folder, { recursive: true, force: true });
  };
  return await started(bench, store, clear, async () => await startAgentProcess({ bench, folder, store, ...options }));
}

async function startByHand(bench: BenchCase): Promise<SystemUnderTest> {
  const store = await storeOf("postgresql", "");
  const { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password } = store.properties;
  const connection = { host, port: Number(port), user, password, database: store.properties["rdb_database"] };
  return await started(
    bench,
    store,
    store.drop,
    async () => await startScript("by-hand", [JSON.stringify(connection)]),
  );
}

async function startBareHttp(bench: BenchCase): Promise<SystemUnderTest> {
  return await started(bench, undefined, undefined, async () => await startScript("bare-http", []));
}

type Process = Awaited<ReturnType<typeof startScript>> & { readonly ledger?: () => Promise<Ledger> };

/** A server of one file that prints its port. */
async function startScript(name: string, args: readonly string[]) {
  const script = fileURLToPath(new URL(`./${name}-server.js`, import.meta.url));
  const startedAt = Date.now();
  const server = await startServer([script, ...args], (line) => ({ port: Number(line) }));
  return { server, startedAt, notifyUrl: `http://127.0.0.1:${server.ready["port"]}/notify` };
}

/** Starts the process and posts one notification; clears up when one of the two fails. */
async function started(
  bench: BenchCase,
  store: BenchStore | undefined,
  clear: (() => Promise<void>) | undefined,
  start: () => Promise<Process>,
): Promise<SystemUnderTest> {
  let stop = async () => await clear?.();
  try {
    const { server, startedAt, notifyUrl, ledger } = await start();
    stop = async () => {
      await server.stop();
      await clear?.();
    };
    const service = store?.service ?? "bench";
    await firstAnswer(notifyUrl, service, bench);
    return { notifyUrl, service, server, startMilliseconds: Date.now() - startedAt, store, ledger, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function firstAnswer(url: string, service: string, { name, bodies }: BenchCase): Promise<void> {
  const [body = ""] = notificationBodies({ ...bodies, entities: bodies.perNotification ?? 1 });
  const response = await fetch(url, { method: "POST", headers: headersOf(bodies.format, service), body });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${name}: the first notification was answered ${response.status}`);
}
