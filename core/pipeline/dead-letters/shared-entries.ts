import { isRecord } from "../../sdk/event.js";
import { isKeptErasure, type KeptErasure } from "../erasures.js";
import { isLetter, isMark } from "./dead-letter.js";
import type { LetterChange } from "./shared-changes.js";

/** What an agent writes into the log of shared letters. */
type SharedEntry =
  | ChangeEntry
  | ErasureEntry
  /** All letters before this offset are settled, and their entries may be missing from now on. */
  | { readonly kind: "forgotten"; readonly before: number };

export interface ChangeEntry {
  readonly kind: "change";
  readonly change: LetterChange;
  /** The run of the agent that wrote it. */
  readonly agent: string;
  /** Each group over a log has letters of its own. */
  readonly group: string;
  /** With the number: which entry it is, for the agent that wrote it. */
  readonly by: string;
  readonly number: number;
}

/** Events that the agents of a group are to leave out. */
interface ErasureEntry {
  readonly kind: "erasure";
  readonly erasure: KeptErasure;
  readonly group: string;
}

const VERSION = 1;
const longestName = 200;

export function textOfEntry(entry: SharedEntry): string {
  if (entry.kind === "forgotten") return JSON.stringify({ version: VERSION, forgotten: entry.before });
  if (entry.kind === "erasure") {
    const { erasure, group } = entry;
    return JSON.stringify({ version: VERSION, erasure, group });
  }
  const { change, agent, group, by, number } = entry;
  return JSON.stringify({ version: VERSION, ...change, agent, group, by, number });
}

/** Undefined for a text that no agent of this version wrote. */
export function entryOfText(text: string): SharedEntry | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || value.version !== VERSION) return undefined;
  const { forgotten, erasure, sink, record, after, unlessChanged, agent, group, by, number } = value;
  if (typeof forgotten === "number") return { kind: "forgotten", before: forgotten };
  if (isKeptErasure(erasure) && typeof group === "string") return { kind: "erasure", erasure, group };
  if (!isMark(record) && !isLetter(record)) return undefined;
  if (typeof sink !== "string" || !isFileName(sink) || typeof agent !== "string" || typeof by !== "string")
    return undefined;
  if (typeof group !== "string") return undefined;
  if (typeof number !== "number" || (after !== undefined && typeof after !== "number")) return undefined;
  const change = { sink, record, after, ...(unlessChanged === true ? { unlessChanged } : {}) };
  return { kind: "change", change, agent, group, by, number };
}

/** Whether a name can be that of a file: the letters of a sink are in one. */
function isFileName(sink: string): boolean {
  try {
    return sink !== "" && encodeURIComponent(sink).length <= longestName;
  } catch {
    return false;
  }
}
