import { calls } from "../../live/page-state.js";
import type { Explanation } from "../explanation.js";
import type { LetterFilter } from "./letter-search.js";

/** A dead letter of a list. */
export interface Letter {
  readonly id: string;
  readonly time: string;
  readonly sink: string;
  readonly state: string;
  readonly reason: string;
  readonly code?: string;
  readonly message?: string;
  readonly attempts?: number;
  readonly replays?: number;
  readonly agent?: string;
  readonly service?: string;
  readonly servicePath?: string;
  readonly entityId?: string;
  readonly entityType?: string;
  readonly table?: string;
  readonly event?: unknown;
}

export const reasons = ["permanent", "retries-exhausted", "crashed-the-agent", "stopped"] as const;

/** The letters that an operation concerns: those that were ticked, else all that match. */
export interface LetterChoice {
  readonly filter: LetterFilter;
  readonly ids: readonly string[];
}

export interface FoundLetters {
  readonly letters: readonly Letter[];
  /** Where the search goes on; absent at the end. */
  readonly next?: string | undefined;
  /** Workers whose letters are not among them, with the reason. */
  readonly missing: readonly string[];
}

interface Searched {
  readonly deadletters: readonly Letter[];
  readonly next?: string;
  readonly missing?: readonly string[];
}

const pageSize = 50;
/** Calls for one page: in a large store a call may find fewer than a page, or none. */
const mostCalls = 20;

/** The next letters that match, newest first. */
export async function searchLetters(
  filter: LetterFilter,
  from: string | undefined,
  signal: AbortSignal,
): Promise<FoundLetters> {
  const letters: Letter[] = [];
  let cursor = from;
  let missing: readonly string[] = [];
  for (let call = 0; call < mostCalls; call += 1) {
    const query = { ...parametersOf(filter), limit: pageSize, cursor };
    const found = await calls.ask<Searched>("GET", "/v1/admin/deadletters/search", { query, signal });
    letters.push(...found.deadletters);
    cursor = found.next;
    missing = found.missing ?? [];
    if (cursor === undefined || letters.length >= pageSize) break;
  }
  return { letters, next: cursor, missing };
}

export async function lookAtLetter({ id, sink }: Pick<Letter, "id" | "sink">, signal: AbortSignal): Promise<Letter> {
  const path = `/v1/admin/deadletters/${encodeURIComponent(id)}`;
  const { deadletter } = await calls.ask<{ deadletter: Letter }>("GET", path, { query: { sink }, signal });
  return deadletter;
}

export interface Replayed {
  readonly replayed: number;
  readonly underway: number;
  readonly refused: number;
  readonly plan?: Plan;
}

export interface Plan {
  readonly complete: boolean;
  readonly sinks: readonly {
    readonly sink: string;
    readonly letters: number;
    readonly exists: boolean;
    readonly health?: string;
    readonly findings?: readonly string[];
    readonly room?: number;
    readonly groups: readonly {
      readonly reason: string;
      readonly code?: string;
      readonly letters: number;
      readonly outlook: string;
      readonly why: string;
    }[];
  }[];
  readonly examples: readonly {
    readonly id: string;
    readonly sink: string;
    readonly outlook: string;
    readonly explanation?: Explanation;
    readonly failure?: string;
  }[];
}

export async function replayLetters(choice: LetterChoice, dryRun: boolean, signal: AbortSignal): Promise<Replayed> {
  const query = { ...chosenBy(choice), ...(dryRun ? { dry_run: true, explain: 5 } : {}) };
  return await calls.ask("POST", "/v1/admin/deadletters/replay", { query, body: bodyOf(choice), signal });
}

export interface Dropped {
  readonly dropped: number;
  readonly underway: number;
}

export async function dropLetters(choice: LetterChoice, signal: AbortSignal): Promise<Dropped> {
  const chosen = chosenBy(choice);
  const isAll = choice.ids.length === 0 && Object.values(chosen).every((value) => value === "");
  const query = { ...chosen, ...(isAll ? { all: true } : {}) };
  return await calls.ask("DELETE", "/v1/admin/deadletters", { query, body: bodyOf(choice), signal });
}

/** Letters that were ticked are named by their ids alone: they were found by another state of the filter perhaps. */
function chosenBy({ filter, ids }: LetterChoice): Readonly<Record<string, string>> {
  return ids.length > 0 ? {} : parametersOf(filter);
}

function bodyOf({ ids }: LetterChoice): object | undefined {
  return ids.length > 0 ? { ids } : undefined;
}

function parametersOf({ since, until, ...others }: LetterFilter): Readonly<Record<string, string>> {
  return { ...others, since: utc(since), until: utc(until) };
}

/** A local time as the interface reads it. */
function utc(local: string): string {
  const date = new Date(local);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
