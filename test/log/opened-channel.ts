import { type LogChannelConfig, logChannel, type PartitionedLog } from "deneb/log";
import type { ChannelContext, TextCodec } from "deneb/sdk";
import { AgentError, type Channel } from "../../core/sdk/index.js";
import { directoryLog } from "../support/directory-log.js";
import { type LogLine, recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";

export const usualConfig: LogChannelConfig = {
  group: "g",
  capacity: 1_000_000,
  transactionCapacity: 1000,
  "keep-alive": 0,
  outcome_timeout: 60,
  session_timeout: 1,
  stall_timeout: 60,
  record_bytes: 131_072,
  prefetch_bytes: 16_777_216,
  trim: true,
  retired_groups: [],
};

export interface LogChannelSetup {
  readonly folder: string;
  /** Makes an adapter of the engine; absent: a log in the folder. */
  readonly engine?: () => PartitionedLog;
  readonly partitions?: number;
  readonly config?: Partial<LogChannelConfig>;
  /** What reads kept texts; absent: nothing does. */
  readonly codecs?: readonly TextCodec[];
  /** Whether parts are waited for; true when absent. */
  readonly takes?: boolean;
  /** Whether puts wait until it is known what is stored; false when absent. */
  readonly hasSinks?: boolean;
  /** By part, the newest offset that the agent has seen; absent: nothing is kept. */
  readonly reached?: Map<number, number>;
}

interface Opened extends LogChannelSetup {
  readonly cut: AbortController;
  readonly lines: readonly LogLine[];
}

const opened = new WeakMap<Channel, Opened>();
let runs = 0;

/** A started channel over a log in a directory, an agent of its own, which works on its share of the parts already. */
export async function openLogChannel(setup: LogChannelSetup): Promise<Channel> {
  const channel = newLogChannel(setup);
  await channel.start();
  if (setup.takes ?? true) await worksOnParts(channel);
  return channel;
}

/** The same before its start. */
export function newLogChannel(setup: LogChannelSetup): Channel {
  const { folder, partitions = 1, config = {}, codecs = [], hasSinks = false, reached } = setup;
  runs += 1;
  const { log, lines } = recordingLog();
  const cut = new AbortController();
  const context: ChannelContext = {
    name: "c1",
    log,
    dataDir: `agent-${runs}`,
    run: `host,${runs},2026-01-01T00:00:00.000Z,${runs}`,
    now: () => new Date(),
    lockFolder: () => Promise.reject(new Error("a log needs no folder")),
    textCodecs: codecs,
    hasSinks,
    ...(reached === undefined ? {} : { reached: () => reached }),
  };
  const engine = cutOff(setup.engine?.() ?? directoryLog({ folder, partitions }), cut.signal);
  const channel = logChannel({ log: engine, engine: "directory", config: { ...usualConfig, ...config }, context });
  opened.set(channel, { ...setup, cut, lines });
  return channel;
}

/** An agent over the same log; the one before loses its connection to it. */
export async function reopenLogChannel(before: Channel): Promise<Channel> {
  opened.get(before)?.cut.abort();
  const channel = await anotherLogChannel(before);
  await worksOnParts(channel, true);
  return channel;
}

/** A second agent over the same log. */
export async function anotherLogChannel(first: Channel): Promise<Channel> {
  const setup = opened.get(first);
  if (setup === undefined) throw new Error("the channel was not opened here");
  const { folder, partitions = 1, config = {}, codecs = [], engine } = setup;
  return await openLogChannel({ folder, partitions, config, codecs, ...(engine === undefined ? {} : { engine }) });
}

/** The lines that the channel has logged. */
export function linesOf(channel: Channel): readonly LogLine[] {
  return opened.get(channel)?.lines ?? [];
}

/** The agent cannot reach the log any more. */
export function cutOffLog(channel: Channel): void {
  opened.get(channel)?.cut.abort();
}

/** Takes until every part has somebody who works on it, and its own are read to the end. */
async function worksOnParts(channel: Channel, alone = false): Promise<void> {
  const enough = new AbortController();
  const transaction = channel.openTake();
  const taking = transaction.take(1, enough.signal);
  await until(
    async () => channel.parts?.() ?? [],
    (parts) => parts.every(({ agent, mine, exact }) => agent !== undefined && (mine ? exact : !alone)),
  );
  enough.abort();
  await taking;
  await transaction.rollback();
}

function cutOff(log: PartitionedLog, signal: AbortSignal): PartitionedLog {
  const reachable = async <T>(ask: () => Promise<T>): Promise<T> => {
    if (!signal.aborted) return await ask();
    throw new AgentError("LOG_UNAVAILABLE", "the log is cut off", { retryable: true });
  };
  const settings = log.settings?.bind(log);
  return {
    open: (opening) => reachable(() => log.open(opening)),
    ...(settings === undefined ? {} : { settings: () => reachable(settings) }),
    append: (...record) => reachable(() => log.append(...record)),
    read: (from, limits, reading) => reachable(() => log.read(from, limits, AbortSignal.any([reading, signal]))),
    bounds: (parts) => reachable(() => log.bounds(parts)),
    trim: (before) => reachable(() => log.trim(before)),
    close: (closing) => log.close(closing),
  };
}
