import { definePlugin } from "deneb/sdk";
import { replicatingSchema } from "./config.js";
import { createReplicatingSelector } from "./replicating-selector.js";

export default definePlugin({
  kind: "selector",
  type: "replicating",
  aliases: ["org.apache.flume.channel.ReplicatingChannelSelector"],
  summary: "Gives every event to every channel of the source.",
  stability: "stable",
  config: replicatingSchema,
  create: createReplicatingSelector,
});
