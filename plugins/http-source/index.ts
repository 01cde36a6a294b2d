import { definePlugin } from "deneb/sdk";
import { checkHttp, httpSchema } from "./config.js";
import { HttpSource } from "./http-source.js";

export default definePlugin({
  kind: "source",
  type: "http",
  aliases: ["org.apache.flume.source.http.HTTPSource"],
  summary: "Receives notifications by HTTP POST and answers once the channels have their events.",
  stability: "stable",
  config: httpSchema,
  slots: { handler: "handler" },
  check: checkHttp,
  create: (config, context) => new HttpSource(config, context),
});
