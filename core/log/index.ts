/**
 * A channel over a log that several agents share, `deneb/log`: an adapter for the engine of the log is all that is left to
 * write. Start reading at {@link PartitionedLog}.
 */
export { type LogChannelParts, logChannel } from "./log-channel.js";
export { type LogChannelConfig, logChannelFaults, logChannelProperties } from "./log-properties.js";
export type {
  Appended,
  Bounds,
  LogFacts,
  LogPart,
  LogRecord,
  LogSettings,
  PartitionedLog,
  ReadLimits,
} from "./partitioned-log.js";
