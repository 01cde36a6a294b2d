import { definePlugin } from "deneb/sdk";
import { checkMqtt, mqttSchema } from "./config.js";
import { MqttSource } from "./mqtt-source.js";

export default definePlugin({
  kind: "source",
  type: "mqtt",
  summary: "Receives notifications from an MQTT broker and acknowledges each once the channels have its events.",
  stability: "beta",
  refusals: [
    { status: 413, cause: "content-too-large" },
    { status: 400, cause: "metadata" },
  ],
  config: mqttSchema,
  slots: { handler: "handler" },
  check: checkMqtt,
  certificates: ({ tls_cert_file }) => [tls_cert_file],
  create: (config, context) => new MqttSource(config, context),
});
