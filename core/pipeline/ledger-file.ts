import { readFile } from "node:fs/promises";
import path from "node:path";
import { refuseGone } from "../files/folder-lock.js";
import { refuseNewerFormat } from "../files/format-version.js";
import { makeFolder } from "../files/make-folder.js";
import { refuseNoFile } from "../files/regular-file.js";
import { writeWhole } from "../files/whole-file.js";
import { isRecord } from "../sdk/event.js";
import { AgentError, codeOf } from "../sdk/index.js";
import type { Settled } from "./delivery/settlements.js";

/** The books of a channel as they are kept. */
export interface AccountState {
  readonly received: number;
  /** Settled just before the process was killed, too late for the books. */
  readonly uncounted: number;
  /** Accepted, and then lost by damage to what the channel keeps. */
  readonly lost: number;
  readonly sinks: ReadonlyMap<string, Settled>;
  /** Of `uncounted` those that a stored position said were stored. */
  readonly skipped: number;
  /** Of `uncounted` those that stay where a channel of the name kept them before a reload; absent for none. */
  readonly left?: number;
  /** What the stores held when the comparison with them began; absent in the books of earlier versions. */
  readonly base?: StoreBase;
  /** The log that kept the events of the channel, as it names itself; absent for one that agents do not share, and before it was open. */
  readonly log?: string;
  /** The newest record that the agent has seen in each part of a log that agents share; absent in the books of earlier versions. */
  readonly reached?: Reached;
}

/** By the number of a part of the log, an offset. */
interface Reached {
  readonly log: string;
  readonly parts: Readonly<Record<string, number>>;
}

/** What the stores of a channel held at some time, and what the books said had been stored then. */
export interface StoreBase {
  readonly events: number;
  readonly stored: number;
  /** True after the process was killed: then the books may be a moment behind the stores. */
  readonly loose: boolean;
  /** Events above `stored` that may have been stored then, because events moved while the stores were asked; absent for none. */
  readonly moving?: number;
  /** What is compared; absent in new books, and in those of earlier versions. */
  readonly of?: Compared;
  /** What the books said had been stored when something else began to be compared; absent while nothing else is. */
  readonly left?: number;
}

/** What the stores of a channel count its events under, and where they do. */
export interface Compared {
  /** The name of the channel in positions. */
  readonly channel: string;
  /** By sink, the place of its positions; empty where it tells none. */
  readonly sinks: Readonly<Record<string, string>>;
}

/** The books of all channels. */
interface Accounts {
  readonly channels: ReadonlyMap<string, AccountState>;
  /** True when the process that wrote them has stopped in order. */
  readonly closed: boolean;
}

/** Version of the file; files of earlier versions name none, and have the first one. */
const VERSION = 1;

/** Where a ledger is kept that cannot be read. */
export function unreadableLedger(file: string): string {
  return `${file}.unreadable`;
}

/** What must be waiting in the channel when the books are right. */
export function waitingIn({ received, uncounted, lost, sinks }: AccountState): number {
  const settled = [...sinks.values()].reduce((sum, one) => sum + one.stored + one["dead-lettered"] + one.filtered, 0);
  return received - uncounted - lost - settled;
}

/** Writes all accounts; a crash leaves the old file or the new one. */
export async function writeAccounts(file: string, { channels: accounts, closed }: Accounts): Promise<void> {
  const channels = [...accounts].map(([name, { sinks, ...state }]) => [
    name,
    { ...state, sinks: Object.fromEntries(sinks) },
  ]);
  await refuseGone(path.dirname(file));
  await makeFolder(path.dirname(file), 0o700);
  const content = { version: VERSION, channels: Object.fromEntries(channels), closed };
  await writeWhole(file, `${JSON.stringify(content, undefined, 2)}\n`);
}

/** Undefined without a file; a file that is none throws, and one of a later version with code `FORMAT_OF_NEWER_VERSION`. */
export async function readAccounts(file: string): Promise<Accounts | undefined> {
  await refuseNoFile(file);
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return undefined;
    throw new AgentError("FILE_NOT_READ", `reading "${file}"`, { cause, retryable: false });
  });
  if (text === undefined) return undefined;
  const value = parsed(text, file);
  refuseNewerFormat({ file, found: memberOf(value, "version"), known: VERSION });
  const channels = entriesOf(memberOf(value, "channels")).map(([name, account]) => [name, accountOf(account)] as const);
  return { channels: new Map(channels), closed: memberOf(value, "closed") === true };
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AgentError("LEDGER_DAMAGED", `reading "${file}": it is not a ledger`, { cause, retryable: false });
  }
}

function accountOf(value: unknown): AccountState {
  const sinks = entriesOf(memberOf(value, "sinks")).map(([name, sink]) => [name, settledOf(sink)] as const);
  return {
    received: countOf(value, "received"),
    uncounted: countOf(value, "uncounted"),
    // Not in the files of earlier versions.
    lost: memberOf(value, "lost") === undefined ? 0 : countOf(value, "lost"),
    skipped: memberOf(value, "skipped") === undefined ? 0 : countOf(value, "skipped"),
    ...(memberOf(value, "left") === undefined ? {} : { left: countOf(value, "left") }),
    sinks: new Map(sinks),
    ...(memberOf(value, "base") === undefined ? {} : { base: baseOf(memberOf(value, "base")) }),
    ...(memberOf(value, "log") === undefined ? {} : { log: String(memberOf(value, "log")) }),
    ...(memberOf(value, "reached") === undefined ? {} : { reached: reachedOf(memberOf(value, "reached")) }),
  };
}

function reachedOf(value: unknown): Reached {
  const parts = memberOf(value, "parts");
  const offsets = entriesOf(parts).map(([part]) => [part, countOf(parts, part)] as const);
  return { log: String(memberOf(value, "log")), parts: Object.fromEntries(offsets) };
}

function baseOf(value: unknown): StoreBase {
  const of = memberOf(value, "of");
  return {
    ...(of === undefined ? {} : { of: comparedOf(of) }),
    ...(memberOf(value, "left") === undefined ? {} : { left: countOf(value, "left") }),
    ...(memberOf(value, "moving") === undefined ? {} : { moving: countOf(value, "moving") }),
    events: countOf(value, "events"),
    stored: countOf(value, "stored"),
    loose: memberOf(value, "loose") === true,
  };
}

function comparedOf(value: unknown): Compared {
  const sinks = entriesOf(memberOf(value, "sinks")).map(([name, place]) => [name, String(place)] as const);
  return { channel: String(memberOf(value, "channel")), sinks: Object.fromEntries(sinks) };
}

function settledOf(value: unknown): Settled {
  return {
    stored: countOf(value, "stored"),
    "dead-lettered": countOf(value, "dead-lettered"),
    filtered: countOf(value, "filtered"),
  };
}

function countOf(value: unknown, name: string): number {
  const count = memberOf(value, name);
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0) return count;
  throw new AgentError("LEDGER_DAMAGED", `reading the ledger: "${name}" is no count; move the file away`, {
    retryable: false,
  });
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value === "object" && value !== null) return Object.entries(value);
  throw new AgentError("LEDGER_DAMAGED", "reading the ledger: it does not have the form of one; move the file away", {
    retryable: false,
  });
}
