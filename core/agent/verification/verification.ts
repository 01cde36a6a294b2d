import { setTimeout as delay } from "node:timers/promises";
import { isPositionFault } from "../../pipeline/delivery/kinds-of-failure.js";
import type { Ledger } from "../../pipeline/ledger.js";
import { counted } from "../../sdk/counted.js";
import { type LogSummary, reasonOf, type StoredSummary } from "../../sdk/index.js";
import type { Agent } from "../agent.js";
import { compared } from "../compared.js";
import { keeperOf, type RunningChannel, type RunningSink } from "../component.js";
import { type ChannelLedger, channelLedger } from "../state/ledger-snapshot.js";
import { judged, type StoreComparison } from "./store-comparison.js";

interface ChannelVerification extends Omit<ChannelLedger, "sinks"> {
  /** Absent when the stores cannot be compared. */
  readonly store?: StoreComparison;
}

interface CountedTable {
  readonly sink: string;
  readonly table: string;
  /** Absent when they could not be counted in time. */
  readonly rows?: number;
}

export interface Verification {
  /** False when something differs. */
  readonly ok: boolean;
  readonly channels: readonly ChannelVerification[];
  readonly tables: readonly CountedTable[];
  /** A sentence for each difference: which, by how much, and what to look at. */
  readonly differences: readonly string[];
  /** What could not be asked. */
  readonly unknown: readonly string[];
  /** What is not compared, and why. */
  readonly notes: readonly string[];
}

/** Milliseconds and times that the ledger is read again while events move. */
const PAUSE = 20;
const MOST_READS = 50;

interface Findings {
  readonly differences: string[];
  readonly unknown: string[];
  readonly notes: string[];
  readonly tables: CountedTable[];
}

interface VerificationParts {
  readonly agent: Pick<Agent, "assembly">;
  readonly ledger: Ledger;
  /** Open dead letters of a sink or group. */
  readonly deadLetters: (sink: string) => number;
}

/** Compares the ledger with the channels and with the stores. */
export async function verification(parts: VerificationParts, signal: AbortSignal): Promise<Verification> {
  const findings: Findings = { differences: [], unknown: [], notes: [], tables: [] };
  const channels: ChannelVerification[] = [];
  for (const channel of parts.agent.assembly.channels) {
    const store = channel.channel.durable ? await comparison(channel, { ...parts, findings, signal }) : undefined;
    const { sinks: _, ...books } = await steadyLedger(channel, parts.ledger);
    if (channel.channel.isShared) reportLog(channel, findings);
    else reportBooks(books, findings);
    reportMissing(channel.name, parts.ledger, findings);
    channels.push({ ...books, ...(store === undefined ? {} : { store }) });
  }
  return { ok: findings.differences.length === 0, channels, ...findings };
}

/** Between the end of a take and its account the books are wrong for a moment. */
async function steadyLedger({ name, channel }: RunningChannel, ledger: Ledger): Promise<ChannelLedger> {
  for (let read = 1; ; read += 1) {
    const books = channelLedger(name, channel, ledger);
    if ((books.unaccounted ?? 0) === 0 || read === MOST_READS) return books;
    await delay(PAUSE);
  }
}

function reportBooks({ name, lost, unaccounted, ...books }: Omit<ChannelLedger, "sinks">, findings: Findings): void {
  if (lost > 0) {
    const look = 'the log lines "events are missing" and "damaged events left out" name the files';
    findings.differences.push(`channel "${name}" lost ${counted(lost, "event")} that it had accepted; ${look}`);
  }
  if (unaccounted === undefined) {
    findings.notes.push(`channel "${name}" does not say what it holds of this agent: its ledger is not compared`);
  } else if (unaccounted !== 0) {
    const { received, stored, dead_lettered: dead, filtered, uncounted, waiting } = books;
    const sum = `received ${received} = stored ${stored} + dead-lettered ${dead} + filtered ${filtered} + uncounted ${uncounted}`;
    const equation = `${sum} + lost ${lost} + waiting ${waiting} + unaccounted ${unaccounted}`;
    findings.differences.push(`channel "${name}": ${counted(unaccounted, "event")} unaccounted for (${equation})`);
  }
}

function reportMissing(name: string, ledger: Ledger, { differences }: Findings): void {
  const { missing } = ledger.account(name);
  if (missing === 0) return;
  const look =
    "its folders, or ledger.json, were removed, replaced, or are of different backups, or dataDirs was changed";
  differences.push(
    `channel "${name}" held ${counted(missing, "event")} fewer at its start than at its last stop; ${look}`,
  );
}

/** The books of the log as a whole: those of one agent say nothing about it. */
function reportLog({ name, channel }: RunningChannel, findings: Findings): void {
  const log = channel.log();
  if (log === undefined) {
    const remedy = "ask an agent that runs";
    findings.notes.push(`channel "${name}" is shared by agents and its log is not open: it is not compared; ${remedy}`);
    return;
  }
  reportGone(name, log, findings);
  const { appended, stored, deadLettered, filtered, waiting, unaccounted } = log;
  if (unaccounted === undefined) {
    findings.notes.push(`channel "${name}" is shared by agents and its log does not tell now what all of them did`);
    return;
  }
  if (unaccounted === 0) return;
  const sum = `appended ${appended} = stored ${stored} + dead-lettered ${deadLettered} + filtered ${filtered}`;
  const equation = `${sum} + waiting ${waiting} + unaccounted ${unaccounted}`;
  findings.differences.push(
    `channel "${name}": ${counted(unaccounted, "event")} of its log unaccounted for (${equation})`,
  );
}

function reportGone(channel: string, { lost, uncounted = [] }: LogSummary, { differences }: Findings): void {
  if (lost > 0) differences.push(`channel "${channel}": its log lost at least ${counted(lost, "accepted event")}`);
  if (uncounted.length === 0) return;
  const parts = `${uncounted.length === 1 ? "partition" : "partitions"} ${uncounted.join(", ")}`;
  const look =
    "those that were not stored are lost, and nobody knows how many; the log of the agent has an error for each partition";
  differences.push(`channel "${channel}": records of ${parts} of its log are gone; ${look}`);
}

interface Comparing extends VerificationParts {
  readonly findings: Findings;
  readonly signal: AbortSignal;
}

/** The store has an event before the ledger has it, so a store that has fewer is short of some at any time. */
async function comparison(running: RunningChannel, comparing: Comparing): Promise<StoreComparison | undefined> {
  const { name, channel } = running;
  const { agent, ledger, findings, deadLetters, signal } = comparing;
  const sinks = agent.assembly.sinks.filter((sink) => sink.channel === channel);
  reportHeld(sinks, findings);
  const of = compared(agent.assembly, running);
  if (of === undefined) return undefined;
  const account = ledger.account(name);
  const before = account.storedOrSkipped;
  const summaries = await summariesOf(sinks, { findings, signal });
  if (summaries === undefined) return undefined;
  const counts = summaries.flatMap((channels) => channels.filter((one) => one.channel === of.channel));
  const events = counts.reduce((sum, one) => sum + one.events, 0);
  const after = account.storedOrSkipped + (channel.size ?? 0);
  const letters = sinks.reduce((sum, sink) => sum + deadLetters(keeperOf(sink)), 0);
  const { store, base, note } = judged(account.base, { events, before, after, letters, of });
  account.base = base;
  if (note !== undefined) findings.notes.push(`channel "${name}": ${note}`);
  if (store.difference !== 0) findings.differences.push(sentence(name, store));
  return store;
}

/** A stored position that is not of this channel, or not of this agent, says more than any count: nothing is written. */
function reportHeld(sinks: readonly RunningSink[], { differences }: Findings): void {
  for (const { name, sink } of sinks) {
    const { failure } = sink.health;
    if (failure !== undefined && isPositionFault(failure)) differences.push(`sink "${name}": ${failure.reason}`);
  }
}

function sentence(channel: string, { events, expected, difference }: StoreComparison): string {
  if (difference < 0) {
    const look =
      "a database that was restored from a backup lacks what came after it; a stored position that was changed by hand or by another " +
      "agent makes events count as stored that are not, and so do events without a row";
    const numbers = `they hold ${events}, the ledger says ${expected}`;
    return `channel "${channel}": its stores lack ${counted(-difference, "event")} (${numbers}); ${look}: ${beginAgain}`;
  }
  const look = `the ledger was removed or replaced, or another agent stored under the same channel; ${beginAgain}`;
  const more = `${counted(difference, "event")} that the ledger does not know (they hold ${events})`;
  return `channel "${channel}": its stores hold ${more}; ${look}`;
}

const beginAgain = 'to begin again, stop the agent and delete the member "base" of the channel in ledger.json';

/** Why a sink did not say what its store holds before the signal ended the wait. */
export function whyUnasked(sink: string, error: unknown, signal: AbortSignal): string {
  const late = "no answer in time; see whether somebody keeps its tables locked, or it is busy";
  return `the store of sink "${sink}" cannot be asked: ${signal.aborted ? late : reasonOf(error)}`;
}

type Asking = Pick<Comparing, "findings" | "signal">;

type CountedEvents = NonNullable<StoredSummary["channels"]>;

/** Undefined when one of the sinks does not count, or cannot tell now: then nothing can be said of the channel. */
async function summariesOf(sinks: readonly RunningSink[], { findings, signal }: Asking) {
  const summaries: CountedEvents[] = [];
  let complete = true;
  for (const { name, sink } of sinks) {
    try {
      const summary = await sink.storedSummary(signal);
      for (const one of summary?.tables ?? []) findings.tables.push({ sink: name, ...one });
      if (summary?.channels !== undefined) summaries.push(summary.channels);
      else {
        findings.notes.push(`sink "${name}" does not count what it stores: its store is not compared`);
        complete = false;
      }
    } catch (error) {
      findings.unknown.push(whyUnasked(name, error, signal));
      complete = false;
    }
  }
  return complete ? summaries : undefined;
}
