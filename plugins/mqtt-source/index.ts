import { definePlugin } from "deneb/sdk";
import { checkMqtt, mqttSchema } from "./config.js";
import { MqttSource } from "./mqtt-source.js";

export default definePlugin({
  kind: "source",
  type: "mqtt",
  summary: "Receives notifications from an MQTT broker and acknowledges each once the channels have its events.",
  stability: "beta",
  config: mqttSchema,
  slots: { handler: "handler" },
  check: checkMqtt,
  create: (config, context) => new MqttSource(config, context),
});
