import path from "node:path";
import { eraseLetters } from "../agent/agent-erasure.js";
import { kernelFiles } from "../agent/kernel-files.js";
import { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import { type ErasureOf, Erasures } from "../pipeline/erasures.js";
import { isRecord } from "../sdk/event.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { askManagement } from "./ask-management.js";
import { askedAgentFault, whereNoneAnswers } from "./asked-agent.js";
import { exitCodes } from "./command.js";
import { dataDirFault } from "./data-dir.js";
import type { EraseCall } from "./erase-call.js";
import { managementAddress } from "./management-address.js";

/** What was erased of what an agent holds and has not stored. */
export interface AgentPart {
  readonly dead_letters: number;
  /** `waiting` is absent while the channel cannot tell. */
  readonly channels: readonly { readonly channel: string; readonly waiting?: number; readonly shared?: true }[];
  /** Sinks with a batch in hand that may still be stored. */
  readonly unsettled: readonly string[];
  readonly notes: readonly string[];
}

const nothing: AgentPart = { dead_letters: 0, channels: [], unsettled: [], notes: [] };
const SEGMENTS = "files of channels on disk hold the bytes of events until the channel removes the files";
const WAITING =
  "the agent is stopped: events to erase that wait in its channels are left out when it runs again, and agents that share a channel with it know then";
const SHARED =
  "agents that share a channel leave out the events to erase from their next try on; repeat the command for the row that one of them may be writing";

/** Erases what is not stored, then does the work; without a running agent the data directory is locked meanwhile. */
export async function eraseInAgent(call: EraseCall, work: (agent: AgentPart) => Promise<number>): Promise<number> {
  const { selection, dryRun, settings, options, terminal } = call;
  const { entity, service, tables } = selection;
  if (tables !== undefined) {
    return await work({ ...nothing, notes: ["dead letters and waiting events belong to no table and stay"] });
  }
  const of = { ...(entity === undefined ? {} : { entity }), ...(service === undefined ? {} : { service }) };
  let part: AgentPart;
  try {
    const address = managementAddress(options, settings, terminal);
    const { config, name } = options;
    const file = config === undefined ? undefined : { config, ...(name === undefined ? {} : { name }) };
    const fault = file && (await askedAgentFault(address, file, [call.topology.agent]));
    if (fault !== undefined) {
      terminal.err(`error: ${fault}`);
      return exitCodes.badInput;
    }
    const request = { ...of, dry_run: dryRun };
    const { body, failure } = await askManagement(address, "POST", "/v1/admin/erasures", request);
    if (failure !== undefined) {
      terminal.err(`error: ${failure}`);
      return exitCodes.badInput;
    }
    part = partIn(body);
  } catch (error) {
    if (codeOf(error) === "NO_AGENT") return await stopped(of, call, { work, noAgent: error });
    terminal.err(`error: ${reasonOf(error)}`);
    return exitCodes.badInput;
  }
  return await work(part);
}

async function stopped(
  of: ErasureOf,
  { dryRun, settings, terminal }: EraseCall,
  { work, noAgent }: { readonly work: (agent: AgentPart) => Promise<number>; readonly noAgent: unknown },
): Promise<number> {
  const { dataDir } = settings;
  const fault = dataDirFault(dataDir);
  if (fault !== undefined) {
    terminal.err(`error: no agent answers, and ${fault}`);
    return exitCodes.badInput;
  }
  return await whereNoneAnswers(noAgent, settings, terminal, async (workers) => {
    let count = 0;
    try {
      for (const { folder } of workers) count += await erasedIn(folder, of, dryRun);
    } catch (error) {
      terminal.err(`error: ${reasonOf(error)}`);
      return exitCodes.failure;
    }
    return await work({ ...nothing, dead_letters: count, notes: [WAITING, SEGMENTS] });
  });
}

/** The number of dead letters; events that wait are left out when the agent of the folder runs again. */
async function erasedIn(folder: string, of: ErasureOf, dryRun: boolean): Promise<number> {
  const letters = new DeadLetters(path.join(folder, kernelFiles.deadLetters));
  const erasures = new Erasures(path.join(folder, kernelFiles.erasures));
  try {
    await erasures.start();
    if (!dryRun) await erasures.add(of, Date.now());
    await letters.start();
    return await eraseLetters(of, letters, dryRun);
  } finally {
    await letters.stop();
  }
}

function partIn(body: Readonly<Record<string, unknown>>): AgentPart {
  const { dead_letters: letters, channels, unsettled } = body;
  const waiting = Array.isArray(channels) ? channels.flatMap((one) => waitingIn(one)) : [];
  return {
    dead_letters: Number(letters),
    channels: waiting,
    unsettled: Array.isArray(unsettled) ? unsettled.map(String) : [],
    notes: [
      ...(waiting.some((one) => one.waiting !== 0) ? [SEGMENTS] : []),
      ...(waiting.some((one) => one.shared) ? [SHARED] : []),
    ],
  };
}

function waitingIn(one: unknown): AgentPart["channels"] {
  if (!isRecord(one)) return [];
  const { channel, waiting, shared } = one;
  const given = {
    ...(waiting === undefined ? {} : { waiting: Number(waiting) }),
    ...(shared === true ? { shared: true as const } : {}),
  };
  return [{ channel: String(channel), ...given }];
}
