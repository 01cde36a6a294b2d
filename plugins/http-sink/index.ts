import { definePlugin } from "deneb/sdk";
import { checkHttpSink, httpSinkSchema } from "./config.js";
import { HttpSink } from "./http-sink.js";

export default definePlugin({
  kind: "sink",
  type: "http",
  summary: "Sends each entity, or each batch of them, to a URL, as NGSI JSON or by a template.",
  stability: "beta",
  config: httpSinkSchema,
  check: checkHttpSink,
  certificates: ({ tls_cert_file }) => [tls_cert_file],
  create: (config, context) => new HttpSink(config, context),
});
