import { definePlugin } from "deneb/sdk";
import { checkTimestamp, timestampSchema } from "./config.js";
import { TimestampInterceptor } from "./timestamp-interceptor.js";

export default definePlugin({
  kind: "interceptor",
  type: "timestamp",
  aliases: ["org.apache.flume.interceptor.TimestampInterceptor$Builder"],
  summary: "Writes the current time into a header of each event.",
  stability: "stable",
  config: timestampSchema,
  check: checkTimestamp,
  create: (config, context) => new TimestampInterceptor(config, context),
});
