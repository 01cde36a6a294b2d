import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { connectAsync, type IClientOptions } from "mqtt";
import type { ServiceQuota } from "../../../core/pipeline/service-quota.js";
import type { Emit, Event, Handler, HealthReport } from "../../../core/sdk/index.js";
import type { MqttConfig } from "../../../plugins/mqtt-source/config.js";
import { MqttSource } from "../../../plugins/mqtt-source/mqtt-source.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { brokerOfTests } from "../../support/mosquitto-server.js";
import { mosquittoProgram } from "../../support/own-mosquitto.js";
import { reachable } from "../../support/reachable.js";
import { recordingLog } from "../../support/recording-log.js";
import { tracedContext } from "../../support/traced-context.js";
import { until } from "../../support/until.js";
import { handlerConfig } from "../ngsi-rest-handler/inbound-request.js";

export const receivedAt = new Date("2024-05-06T07:08:09.123Z");

export const mqttConfig: MqttConfig = {
  url: "mqtt://127.0.0.1:1883",
  topics: ["orion/#"],
  qos: 1,
  client_id: "",
  username: "",
  password: "",
  clean_session: false,
  keepalive: 60,
  connect_timeout: 10_000,
  reconnect_interval: 20,
  channel_retry_interval: 5,
  topic_pattern: "",
  service: "",
  service_path: "",
  notification_target: "/notify",
  content_type: "application/json",
  max_message_size: 10_485_760,
  tls_ca_file: "",
  tls_cert_file: "",
  tls_key_file: "",
  tls_verify: true,
};

export const handler = new NgsiRestHandler({ ...handlerConfig, ngsi_version: "auto" });

export interface Setting {
  readonly config?: Partial<MqttConfig>;
  readonly handler?: Handler;
  /** Called before the events are recorded as emitted; what it rejects is not. */
  readonly emit?: Emit;
  readonly quota?: ServiceQuota;
  /** That of the source when absent. */
  readonly steadyMillis?: number;
}

/** A source that runs until the test ends, with the real handler, and everything that it hands on. */
export async function runningSource(context: TestContext, setting: Setting) {
  const { log, lines } = recordingLog();
  const { emitted, accounted, refused, ...traced } = tracedContext({
    name: "mqtt-source",
    log,
    now: () => receivedAt,
    handler: setting.handler ?? handler,
    ...(setting.emit === undefined ? {} : { emit: setting.emit }),
    ...(setting.quota === undefined ? {} : { quota: setting.quota }),
  });
  const health: HealthReport[] = [];
  const report = (one: HealthReport) => {
    health.push(one);
  };
  const config = { ...mqttConfig, ...setting.config };
  const source = new MqttSource(config, { ...traced.context, report }, setting.steadyMillis);
  context.after(async () => {
    await source.stop(AbortSignal.abort());
    await forgetSession(setting.config?.client_id);
  });
  await source.start();
  const logged = async (message: string, times = 1) => {
    const found = () => lines.filter((line) => line.message === message);
    return await until(
      async () => found(),
      (sight) => sight.length >= times,
    );
  };
  const values = () => emitted.map(firstValue);
  const received = (count: number) =>
    until(
      async () => values(),
      (sight) => sight.length >= count,
    );
  return { source, emitted, accounted, refused, lines, health, logged, received };
}

/** A broker, a topic that nobody else uses, and a client that publishes; undefined, and the test skipped, without. */
export async function sharedBroker(context: TestContext) {
  const { host, port } = brokerOfTests();
  if (!(await reachable(host, port))) {
    context.skip("needs Mosquitto");
    return undefined;
  }
  const id = randomUUID();
  const url = `mqtt://${host}:${port}`;
  const topic = `deneb_test/${id}`;
  const publish = await publisher(context, url);
  sessions.add(id);
  return { url, topic, publish, config: { url, topics: [`${topic}/#`], client_id: id } };
}

/** Names of clients that left a session at the shared broker. */
const sessions = new Set<string>();

async function forgetSession(clientId: string | undefined): Promise<void> {
  if (clientId === undefined || !sessions.has(clientId)) return;
  const { host, port } = brokerOfTests();
  const client = await connectAsync(`mqtt://${host}:${port}`, { clientId, clean: true });
  await client.endAsync();
}

/** The program of a broker; undefined, and the test skipped, where it is not installed. */
export async function brokerProgram(context: TestContext): Promise<string | undefined> {
  const program = await mosquittoProgram();
  if (program === undefined) context.skip("needs mosquitto to be installed");
  return program;
}

/** Publishes and waits for the broker to have it. */
export async function publisher(context: TestContext, url: string, options: IClientOptions = {}) {
  const client = await connectAsync(url, { ...options, reconnectPeriod: 0 });
  client.on("error", () => undefined);
  context.after(() => client.endAsync(true));
  return async (topic: string, payload: string) => {
    await client.publishAsync(topic, payload, { qos: 1 });
  };
}

/** A notification as Orion sends it, of one entity whose attribute `n` has this value. */
export function notification(value: number): string {
  const entity = { id: "room-1", type: "Room", n: { type: "Number", value, metadata: {} } };
  return JSON.stringify({ subscriptionId: "5aeb0ee97d4ef10a12a0262f", data: [entity] });
}

function firstValue({ body }: Event): unknown {
  const [attribute] = attributesOf(body);
  return typeof attribute === "object" && attribute !== null && "value" in attribute ? textOf(attribute.value) : body;
}

function attributesOf(body: unknown): readonly unknown[] {
  const attributes = typeof body === "object" && body !== null && "attributes" in body ? body.attributes : [];
  return Array.isArray(attributes) ? attributes : [];
}

function textOf(value: unknown): unknown {
  return typeof value === "object" && value !== null && "text" in value ? value.text : value;
}
