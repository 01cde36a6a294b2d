import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { type Ledger, startAgentProcess } from "./agent-process.js";
import type { BenchCase } from "./case.js";
import { logOfBench } from "./log-engine.js";
import { startOriginal } from "./original.js";
import { post } from "./post.js";
import { postgresqlStore } from "./postgresql-store.js";
import { requestsOf } from "./requests.js";
import { type ServerProcess, startServer } from "./server-process.js";
import { type BenchStore, storeOf } from "./store.js";
import { type Usage, usageOfFamily, usageOfGroup } from "./usage.js";

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
  /** Events stored so far; undefined where nothing is stored, and where an answer says that it is. */
  readonly stored: (() => Promise<number>) | undefined;
  usage(): Usage | undefined;
  /** Name of the processes of the log; undefined without one. */
  readonly logCommand?: string | undefined;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The agent can be asked for its memory. */
  readonly probed?: boolean;
  /** Further options of Node. */
  readonly node?: readonly string[];
}

/** Its first notification has been answered 200. */
export async function startSystem(bench: BenchCase, options: StartOptions = {}): Promise<SystemUnderTest> {
  return await starters[bench.system](bench, options);
}

const starters = {
  agent: startAgent,
  "by-hand": startByHand,
  original: startNamed,
  "bare-http": async (bench, options) => await startBare(bench, "bare-http", options),
  "bare-socket": async (bench, options) => await startBare(bench, "bare-socket", options),
} satisfies Record<BenchCase["system"], (bench: BenchCase, options: StartOptions) => Promise<SystemUnderTest>>;

async function startAgent(bench: BenchCase, options: StartOptions): Promise<SystemUnderTest> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-bench-"));
  const store = await storeOf(bench.database, path.join(folder, "data"));
  const log = await logOfBench(bench.channel);
  const clear = async () => {
    await log?.drop();
    await store.drop();
    await rm(folder, { recursive: true, force: true });
  };
  const channel = { ...log?.properties };
  const { flags = [] } = bench;
  const start = async () => await startAgentProcess({ bench, folder, store, channel, flags, ...options });
  return { ...(await started({ bench, store, clear, start })), logCommand: log?.command };
}

async function startByHand(bench: BenchCase, options: StartOptions): Promise<SystemUnderTest> {
  const store = await storeOf("postgresql", "");
  const { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password } = store.properties;
  const connection = { host, port: Number(port), user, password, database: store.properties["rdb_database"] };
  const start = async () => await startScript("by-hand", [JSON.stringify(connection)], options);
  return await started({ bench, store, clear: store.drop, start });
}

async function startBare(
  bench: BenchCase,
  name: "bare-http" | "bare-socket",
  options: StartOptions,
): Promise<SystemUnderTest> {
  return await started({ bench, start: async () => await startScript(name, [], options) });
}

/** Its rows are counted: nothing of it can be asked. */
async function startNamed(bench: BenchCase): Promise<SystemUnderTest> {
  const { original } = bench;
  if (original === undefined) throw new Error(`${bench.name} has no command`);
  const store = await postgresqlStore(original.database);
  return await unwindingOnError(store.drop, async () => {
    const [first] = requestsOf(bench.bodies, store.service);
    if (first === undefined) throw new Error(`${bench.name} has no notification`);
    const { server, startedAt, notifyUrl } = await startOriginal(
      original,
      first,
      store.properties["rdb_database"] ?? "",
    );
    return {
      notifyUrl,
      service: store.service,
      server,
      startMilliseconds: Date.now() - startedAt,
      store,
      ledger: undefined,
      stored: store.countRows,
      usage: () => usageOfGroup(server.pid),
      stop: async () => {
        await server.stop();
        await store.drop();
      },
    };
  });
}

type Process = Awaited<ReturnType<typeof startScript>> & { readonly ledger?: () => Promise<Ledger> };

/** A server of one file that prints its port. */
async function startScript(name: string, args: readonly string[], { node = [] }: StartOptions) {
  const script = fileURLToPath(new URL(`./${name}-server.js`, import.meta.url));
  const startedAt = Date.now();
  const server = await startServer([...node, script, ...args], (line) => ({ port: Number(line) }));
  return { server, startedAt, notifyUrl: `http://127.0.0.1:${server.ready["port"]}/notify` };
}

interface ToStart {
  readonly bench: BenchCase;
  readonly store?: BenchStore;
  readonly clear?: () => Promise<void>;
  start(): Promise<Process>;
}

/** Starts the process and posts one notification; clears up when one of the two fails. */
async function started({ bench, store, clear, start }: ToStart): Promise<SystemUnderTest> {
  const service = store?.service ?? "bench";
  let stop = async () => await clear?.();
  return await unwindingOnError(
    async () => await stop(),
    async () => {
      const [first] = requestsOf(bench.bodies, service);
      const { server, startedAt, notifyUrl, ledger } = await start();
      stop = async () => {
        await server.stop();
        await clear?.();
      };
      const status = first === undefined ? undefined : await post(notifyUrl, first);
      if (status !== 200) throw new Error(`${bench.name}: the first notification was answered ${status}`);
      const startMilliseconds = Date.now() - startedAt;
      const stored = ledger === undefined ? undefined : async () => (await ledger()).stored;
      const usage = () => usageOfFamily(server.pid);
      return { notifyUrl, service, server, startMilliseconds, store, ledger, stored, usage, stop };
    },
  );
}

async function unwindingOnError<T>(undo: () => Promise<void>, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    await undo();
    throw error;
  }
}
