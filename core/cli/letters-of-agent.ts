import { isRecord } from "../sdk/event.js";
import { AgentError } from "../sdk/index.js";
import { askManagement, type ManagementAddress } from "./ask-management.js";

export const deadLettersPath = "/v1/admin/deadletters";

/** Dead letters in one request, the most that it takes: the agent reads all of them for each. */
const PAGE = 10_000;

type Letter = Readonly<Record<string, unknown>>;

interface AgentLetters {
  readonly letters: readonly Letter[];
  /** The workers whose dead letters are not among them, with the reason. */
  readonly missing: readonly string[];
}

/**
 * The dead letters of a running agent that the query chooses, sink after sink, oldest first. One request reaches 10,000 of several workers:
 * where there are more, each worker is asked for its own. Throws code `REFUSED` with the answer of the agent.
 */
export async function lettersOfAgent(address: ManagementAddress, query: URLSearchParams): Promise<AgentLetters> {
  const { letters, missing } = await pageOf(address, { query, offset: 0 });
  if (letters.length < PAGE) return { letters, missing };
  const workers = await workersOf(address);
  if (workers.length === 0)
    return { letters: [...letters, ...(await allOf(address, { query, offset: PAGE }))], missing };
  const all = new Map<string, Letter>();
  for (const worker of workers.filter(({ answers }) => answers)) {
    const found = await allOf(address, { query, offset: 0, below: `/workers/${worker.number}` });
    // Those that agents share are in the list of each.
    for (const letter of found) all.set(`${letter["sink"]} ${letter["id"]}`, letter);
  }
  return { letters: [...all.values()].toSorted(bySinkAndAge), missing };
}

/** One dead letter of a running agent, with its event. */
export async function letterOfAgent(address: ManagementAddress, id: string): Promise<unknown> {
  const { deadletter } = await answerTo(address, `${deadLettersPath}/${encodeURIComponent(id)}`);
  return deadletter;
}

interface Page {
  readonly query: URLSearchParams;
  readonly offset: number;
  /** The path of one worker. */
  readonly below?: string;
}

async function allOf(address: ManagementAddress, { offset, ...more }: Page): Promise<readonly Letter[]> {
  const all: Letter[] = [];
  for (let at = offset; ; at += PAGE) {
    const { letters } = await pageOf(address, { ...more, offset: at });
    all.push(...letters);
    if (letters.length < PAGE) return all;
  }
}

async function pageOf(address: ManagementAddress, { query, offset, below = "" }: Page): Promise<AgentLetters> {
  const paged = new URLSearchParams(query);
  paged.set("limit", String(PAGE));
  paged.set("offset", String(offset));
  const { deadletters, missing } = await answerTo(address, `${below}${deadLettersPath}?${paged}`);
  return { letters: listOf(deadletters).filter(isRecord), missing: listOf(missing).map(String) };
}

async function workersOf(address: ManagementAddress) {
  const { stats } = await answerTo(address, "/v1/stats");
  const workers = isRecord(stats) ? listOf(stats["workers"]).filter(isRecord) : [];
  return workers.map(({ number, state }) => ({ number: Number(number), answers: state === "running" }));
}

async function answerTo(address: ManagementAddress, target: string): Promise<Readonly<Record<string, unknown>>> {
  const { body, failure } = await askManagement(address, "GET", target);
  if (failure !== undefined) throw new AgentError("REFUSED", failure, { retryable: false });
  return body;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function bySinkAndAge(one: Letter, other: Letter): number {
  return compared("sink", one, other) || compared("time", one, other);
}

function compared(name: string, one: Letter, other: Letter): number {
  const texts = [String(one[name]), String(other[name])] as const;
  return texts[0] < texts[1] ? -1 : Number(texts[0] > texts[1]);
}
