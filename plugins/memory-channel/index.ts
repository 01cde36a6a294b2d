import { definePlugin } from "deneb/sdk";
import { checkMemory, memorySchema } from "./config.js";
import { MemoryChannel } from "./memory-channel.js";

export default definePlugin({
  kind: "channel",
  type: "memory",
  aliases: ["org.apache.flume.channel.MemoryChannel", "com.telefonica.iot.cygnus.channels.CygnusMemoryChannel"],
  summary: "Keeps events in memory: the fastest channel, and one that forgets when the process ends.",
  stability: "stable",
  config: memorySchema,
  check: checkMemory,
  create: (config, context) => new MemoryChannel(config, context),
});
