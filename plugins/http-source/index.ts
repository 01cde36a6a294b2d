import { definePlugin } from "deneb/sdk";
import { checkHttp, httpSchema } from "./config.js";
import { HttpSource } from "./http-source.js";
import { httpRefusals } from "./responses.js";

export default definePlugin({
  kind: "source",
  type: "http",
  aliases: ["org.apache.flume.source.http.HTTPSource"],
  summary: "Receives notifications by HTTP POST and answers once the channels have their events.",
  stability: "stable",
  refusals: httpRefusals,
  workers: () => "each",
  config: httpSchema,
  slots: { handler: "handler" },
  check: checkHttp,
  certificates: ({ tls_certificate }) => [tls_certificate],
  create: (config, context) => new HttpSource(config, context),
});
