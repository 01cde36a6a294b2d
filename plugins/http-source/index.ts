import { definePlugin } from "deneb/sdk";
import { checkHttp, httpSchema } from "./config.js";
import { HttpSource } from "./http-source.js";
import { httpRefusals } from "./responses.js";

const withoutTls =
  "the source speaks HTTP without tls_key and tls_certificate, which name PEM files (plugins/http-source/README.md#tls-and-tokens)";
const tlsOfFlume = ["ssl", "enableSSL", "keystore", "keystorePassword", "keystore-password", "keystore-type"];

export default definePlugin({
  kind: "source",
  type: "http",
  aliases: ["org.apache.flume.source.http.HTTPSource"],
  spellings: [
    {
      types: ["org.apache.flume.source.http.HTTPSource"],
      without: Object.fromEntries(tlsOfFlume.map((name) => [name, withoutTls])),
    },
  ],
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
