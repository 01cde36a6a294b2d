import { logChannel, logChannelFaults } from "deneb/log";
import { definePlugin } from "deneb/sdk";
import { directoryLogSchema } from "./config.js";
import { DirectoryLog } from "./directory-log.js";

export default definePlugin({
  apiVersion: 1,
  kind: "channel",
  type: "directory-log",
  summary: "Keeps events in a directory that several agents share.",
  stability: "beta",
  takers: "one",
  feeders: "others",
  config: directoryLogSchema,
  check: (config) => logChannelFaults(config),
  create: (config, context) => logChannel({ log: new DirectoryLog(config), engine: "directory", config, context }),
});
