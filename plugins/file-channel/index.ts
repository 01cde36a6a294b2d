import { definePlugin } from "deneb/sdk";
import { checkFile, checkSpillable, fileSchema, spillableSchema } from "./config.js";
import { fileChannel, spillableChannel } from "./file-channel.js";

export default [
  definePlugin({
    kind: "channel",
    type: "file",
    aliases: ["org.apache.flume.channel.file.FileChannel", "com.telefonica.iot.cygnus.channels.CygnusFileChannel"],
    summary: "Keeps events on disk: what was accepted survives the end of the process, whatever ended it.",
    stability: "stable",
    config: fileSchema,
    check: checkFile,
    create: fileChannel,
  }),
  definePlugin({
    kind: "channel",
    type: "spillable",
    aliases: ["org.apache.flume.channel.SpillableMemoryChannel"],
    summary:
      "Keeps events in memory and, when there are too many, on disk; what is in memory is lost with the process.",
    stability: "stable",
    config: spillableSchema,
    check: checkSpillable,
    create: spillableChannel,
  }),
];
