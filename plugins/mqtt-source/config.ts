import { type ConfigOf, checkTls, type PropertyFault, type Schema, tlsProperties } from "deneb/sdk";
import { topicFilterFault, topicPatternFault } from "./topics.js";

/** The longest keep-alive of MQTT, in seconds. */
const LONGEST_KEEPALIVE = 65_535;

export const mqttSchema = {
  url: {
    doc: "The broker: mqtt://host:port, or mqtts://host:port for TLS. Without a port 1883 and 8883.",
    format: "text",
    resource: "client",
  },
  topics: {
    doc: "Topic filters to subscribe to, separated by blanks or commas; + stands for one level, a last # for all below.",
    format: "words",
  },
  qos: {
    doc: "1: each message is delivered until it is acknowledged. 0: a message may be lost and is never delivered twice.",
    format: "count",
    default: 1,
    max: 1,
  },
  client_id: {
    doc: "Name of this client at the broker, by which it keeps the session; no two clients of one broker may have the same. Empty means deneb- and the name of the source.",
    format: "text",
    default: "",
    resource: "client",
  },
  username: {
    doc: "User at the broker; empty for none.",
    format: "text",
    default: "",
    env: "AGENT_MQTT_USER",
    envFile: "AGENT_MQTT_USER_FILE",
  },
  password: {
    doc: "Password of the user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_MQTT_PASS",
    envFile: "AGENT_MQTT_PASS_FILE",
  },
  clean_session: {
    doc: "false: the broker keeps the messages that come while the agent is away. true: it forgets them.",
    format: "flag",
    default: false,
  },
  keepalive: {
    doc: "Seconds without traffic after which the connection is checked; 0 never checks it.",
    format: "seconds",
    default: 60,
    max: LONGEST_KEEPALIVE,
  },
  connect_timeout: {
    doc: "Milliseconds within which the broker must accept a connection.",
    format: "millis",
    default: 10_000,
    min: 1,
  },
  reconnect_interval: {
    doc: "Milliseconds between two attempts to connect.",
    format: "millis",
    default: 5000,
    min: 1,
  },
  channel_retry_interval: {
    doc: "Milliseconds after which a message for which a channel has no room is tried again.",
    format: "millis",
    default: 1000,
    min: 1,
  },
  topic_pattern: {
    doc: "Where in a topic service and service path are: +service is one level, +path one level of the path, a last #path all that are left, + and a last # anything. Empty looks for none.",
    format: "text",
    default: "",
  },
  service: {
    doc: "Service of messages whose topic and metadata do not name it. Empty leaves it to the handler.",
    format: "text",
    default: "",
  },
  service_path: {
    doc: "Service path of messages whose topic and metadata do not name it. Empty leaves it to the handler.",
    format: "text",
    default: "",
  },
  notification_target: {
    doc: "Path under which the handler is given each message; must be the notification_target of the handler.",
    format: "text",
    default: "/notify",
  },
  content_type: {
    doc: "Content type of messages whose metadata does not name it.",
    format: "text",
    default: "application/json",
  },
  max_message_size: {
    doc: "Largest message accepted, in bytes; a larger one is acknowledged, and counted as refused.",
    format: "count",
    default: 10_485_760,
    min: 1,
  },
  ...tlsProperties,
} as const satisfies Schema;

export type MqttConfig = ConfigOf<typeof mqttSchema>;

type Fault = PropertyFault<typeof mqttSchema>;

export function checkMqtt(config: MqttConfig): readonly Fault[] {
  const { topics, topic_pattern, username, password } = config;
  return [
    ...reasonFault("url", urlFault(config.url)),
    ...(topics.length === 0 ? reasonFault("topics", "must name a topic") : []),
    ...topics.flatMap((topic) => reasonFault("topics", topicFilterFault(topic))),
    ...(password !== "" && username === "" ? reasonFault("password", "must be given with username") : []),
    ...(topic_pattern === "" ? [] : reasonFault("topic_pattern", topicPatternFault(topic_pattern))),
    ...checkTls(config),
  ];
}

function reasonFault(property: Fault["property"], reason: string | undefined): readonly Fault[] {
  return reason === undefined ? [] : [{ property, reason }];
}

function urlFault(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^mqtts?:$/.test(url.protocol) || url.hostname === "") {
    return "must be mqtt://host:port or mqtts://host:port";
  }
  return url.username === "" && url.password === ""
    ? undefined
    : "must not hold a user or password; use username and password";
}
