import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startAgentProcess } from "../bench/agent-process.js";
import { agentCase } from "../bench/case.js";
import { postgresqlOfBench, postgresqlStore } from "../bench/postgresql-store.js";
import { requestsOf, wireOf } from "../bench/requests.js";
import type { ServerProcess } from "../bench/server-process.js";
import type { Counts } from "./bounds.js";
import type { GuardCase } from "./guard-case.js";
import { countedWire, type WireCounter, type WireCounts } from "./wire-counter.js";

const ENTITIES = 10;
const NOTIFICATIONS = 1000;
/**
 * When V8 has compiled, optimized and forgotten what depends on how busy the machine is, and with that what is allocated. A young
 * generation that is large from the start is not grown by the agent, which allocates for that.
 */
const exactAllocations: readonly string[] = [
  "--expose-gc",
  "--no-opt",
  "--no-maglev",
  "--no-sparkplug",
  "--no-flush-bytecode",
  "--min-semi-space-size=16",
  "--max-semi-space-size=16",
];

/** What V8 keeps from the first calls, such as bytecode and feedback, it has then. */
const WARM_NOTIFICATIONS = { 1: 1500, 100: 3000 };

/**
 * Counts of the agent for 1,000 notifications over one connection. Each one of a group of one is stored before the next is sent. A larger group is
 * sent while the commit of the one before is not answered, so that all of it waits when it is taken: how many events a take finds, and what it
 * allocates, would depend on how fast the machine is.
 */
export async function guardRun({ channel, format, group }: GuardCase): Promise<Counts> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-guard-"));
  const store = await postgresqlStore();
  const { host, port } = postgresqlOfBench();
  const wire = await countedWire(host, port);
  const undo: (() => Promise<void>)[] = [
    async () => await rm(folder, { recursive: true, force: true }),
    store.drop,
    wire.close,
  ];
  try {
    const agent = await startAgentProcess({
      bench: agentCase({ database: "postgresql", channel, batchSize: 1, entities: ENTITIES, format }),
      folder,
      store,
      sink: { rdb_host: "127.0.0.1", rdb_port: String(wire.port), ...batchOf(group) },
      node: [...exactAllocations, "--import", fileURLToPath(new URL("./count-probe.js", import.meta.url))],
    });
    undo.push(agent.server.stop);
    const requests = requestsOf({ format, entities: ENTITIES }, store.service).map((one) =>
      wireOf(one, agent.notifyUrl),
    );
    const socket = await connected(agent.notifyUrl);
    undo.push(async () => void socket.destroy());
    const send = async (notifications: number) => {
      for (let sent = 0; sent < notifications; sent += group) {
        const rows = wire.counts.rows + group;
        for (let at = sent; at < sent + group; at += 1) await answered(socket, requests[at % requests.length]);
        wire.release();
        await wire.rowsReach(rows);
      }
    };
    if (group > 1) wire.hold();
    undo.push(async () => wire.release());
    await send(WARM_NOTIFICATIONS[group]);
    return await counted({ server: agent.server, wire }, async () => await send(NOTIFICATIONS));
  } finally {
    for (const one of undo.reverse()) await one();
  }
}

/** A batch is written when it is full, and never before. */
function batchOf(group: GuardCase["group"]): Readonly<Record<string, string>> {
  const seconds = 600;
  if (group === 1) return { batch_size: "1" };
  return { batch_size: String(group), batch_timeout: String(seconds), batch_linger: String(seconds * 1000) };
}

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, "connect");
  return socket;
}

async function answered(socket: Socket, request: Buffer | undefined): Promise<void> {
  socket.write(request ?? "");
  const [answer] = await once(socket, "data");
  if (!String(answer).startsWith("HTTP/1.1 200 ")) throw new Error(`a notification was answered ${answer}`);
}

interface Counted {
  readonly server: ServerProcess;
  readonly wire: WireCounter;
}

async function counted({ server, wire }: Counted, work: () => Promise<void>): Promise<Counts> {
  await probed(server);
  const wireBefore = { ...wire.counts };
  const callsBefore = systemCalls(server.pid);
  await work();
  const callsAfter = systemCalls(server.pid);
  const { fileWrites, fileBytes, fileSyncs, jsonTexts, jsonCharacters, allocatedBytes } = await probed(server);
  return {
    ...wireCounts(wire, wireBefore),
    "writes to files": fileWrites,
    "bytes to files": fileBytes,
    "syncs of files": fileSyncs,
    "JSON texts read and written": jsonTexts,
    "characters of JSON read and written": jsonCharacters,
    ...(callsBefore === undefined || callsAfter === undefined
      ? {}
      : {
          "system calls that read": callsAfter.reads - callsBefore.reads,
          "system calls that write": callsAfter.writes - callsBefore.writes,
        }),
    "allocated bytes": allocatedBytes,
  };
}

function wireCounts({ counts }: WireCounter, before: WireCounts): Counts {
  return {
    statements: counts.statements - before.statements,
    transactions: counts.transactions - before.transactions,
    "messages to the database": counts.messages - before.messages,
    "bytes to the database": counts.bytes - before.bytes,
    "transactions without rows of entities": counts.others - before.others,
  };
}

async function probed({ child }: ServerProcess): Promise<Readonly<Record<string, number>> & ProbeCounts> {
  child.send("counts");
  const [counts] = await once(child, "message");
  return counts;
}

type ProbeCounts = Readonly<
  Record<"fileWrites" | "fileBytes" | "fileSyncs" | "jsonTexts" | "jsonCharacters" | "allocatedBytes", number>
>;

/** Undefined where the system has no /proc. */
function systemCalls(pid: number): { readonly reads: number; readonly writes: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/io`, "utf8");
    const of = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(text)?.[1]);
    return { reads: of("syscr"), writes: of("syscw") };
  } catch {
    return undefined;
  }
}
