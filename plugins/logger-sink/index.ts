import { definePlugin } from "deneb/sdk";
import { loggerSchema } from "./config.js";
import { LoggerSink } from "./logger-sink.js";

export default definePlugin({
  kind: "sink",
  type: "logger",
  aliases: ["org.apache.flume.sink.LoggerSink"],
  summary: "Writes a log line for each batch and stores nothing.",
  stability: "stable",
  config: loggerSchema,
  create: (config, context) => new LoggerSink(config, context),
});
