import { logChannel } from "deneb/log";
import { definePlugin } from "deneb/sdk";
import { checkJetStream, jetstreamSchema } from "./config.js";
import { JetStreamLog } from "./log/jetstream-log.js";

export default definePlugin({
  kind: "channel",
  type: "jetstream",
  summary:
    "Keeps events in a stream of NATS JetStream, which several agents share: any of them stores what each accepted, once.",
  stability: "beta",
  takers: "one",
  feeders: "others",
  config: jetstreamSchema,
  check: checkJetStream,
  certificates: ({ tls_cert_file }) => [tls_cert_file],
  create: (config, context) =>
    logChannel({ log: new JetStreamLog(config, `channel "${context.name}"`), engine: "jetstream", config, context }),
});
