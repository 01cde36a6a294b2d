import path from "node:path";
import { lockFolder as lock } from "../../../core/files/folder-lock.js";
import type { ChannelContext } from "../../../core/sdk/index.js";
import { drain } from "../../../core/testing/channel-fixture.js";
import { copyOfLive } from "../../../core/testing/copied-folder.js";
import { FileChannel, type LogConfig } from "../../../plugins/file-channel/file-channel.js";
import type { OpenFile } from "../../../plugins/file-channel/log/files.js";
import { type LogLine, recordingLog } from "../../support/recording-log.js";

export interface OpenedChannel {
  readonly channel: FileChannel;
  readonly lines: readonly LogLine[];
}

export const usual: LogConfig = {
  capacity: 1_000_000,
  byteCapacity: 1_000_000_000,
  memoryCapacity: 0,
  transactionCapacity: 1000,
  "keep-alive": 0,
  checkpointDir: "",
  dataDirs: [],
  maxFileSize: 65_536,
  service_percentage: 100,
  fair_taking: false,
};

/** A channel named c1 that is not started, its files below the folder. */
export function channelIn(dataDir: string, config: Partial<LogConfig> = {}, openFile?: OpenFile): OpenedChannel {
  const { log, lines } = recordingLog();
  const lockFolder: ChannelContext["lockFolder"] = (at, claim = {}) => lock(at, claim, { seconds: 0, log });
  const context = { name: "c1", log, dataDir, run: "run", now: () => new Date(0), lockFolder };
  return { lines, channel: new FileChannel({ ...usual, ...config }, context, openFile) };
}

/** The same, started. */
export async function openIn(
  dataDir: string,
  config: Partial<LogConfig> = {},
  openFile?: OpenFile,
): Promise<OpenedChannel> {
  const opened = channelIn(dataDir, config, openFile);
  await opened.channel.start();
  return opened;
}

/** The folder of the events of a channel that was made here. */
export function dataFolder(dataDir: string): string {
  return path.join(dataDir, "channels", "c1", "data");
}

/** A copy of the folder of a channel, without its lock: as a crash would have left it. */
export async function copyOf(dataDir: string, to: string): Promise<string> {
  await copyOfLive(dataDir, to, (file) => !file.endsWith(".lock"));
  return to;
}

/** Starts a channel, takes everything that is in it and stops it. */
export async function contents(
  dataDir: string,
): Promise<{ readonly bodies: readonly unknown[]; readonly lines: readonly LogLine[] }> {
  const { channel, lines } = await openIn(dataDir);
  const bodies = await drain(channel, 1000);
  await channel.stop();
  return { bodies, lines };
}
