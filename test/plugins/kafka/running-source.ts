import type { TestContext } from "node:test";
import { PluginInstruments } from "../../../core/metrics/plugin-instruments.js";
import type { Emit, Event, Handler, HealthReport } from "../../../core/sdk/index.js";
import type { Message } from "../../../plugins/kafka/client/outgoing.js";
import type { KafkaSourceConfig } from "../../../plugins/kafka/source/config.js";
import { KafkaSource } from "../../../plugins/kafka/source/kafka-source.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { recordingLog } from "../../support/recording-log.js";
import { tracedContext } from "../../support/traced-context.js";
import { until } from "../../support/until.js";
import { handlerConfig } from "../ngsi-rest-handler/inbound-request.js";
import { connection } from "./topic-client.js";

export const sourceConfig: KafkaSourceConfig = {
  ...connection,
  topics: ["orion"],
  group: "",
  start: "earliest",
  isolation_level: "read_committed",
  open_transaction_timeout: 60_000,
  service: "",
  service_path: "",
  notification_target: "/notify",
  content_type: "application/json",
  max_message_size: 10_485_760,
  channel_retry_interval: 5,
  commit_interval: 10,
  session_timeout: 6000,
};

const handler = new NgsiRestHandler({ ...handlerConfig, ngsi_version: "auto" });

export interface Setting {
  readonly config: Partial<KafkaSourceConfig>;
  readonly handler?: Handler;
  /** Called before the events are recorded as emitted; what it rejects is not. */
  readonly emit?: Emit;
}

/** A source that has not started, with the real handler, and everything that it hands on. */
export function newSource(config: Partial<KafkaSourceConfig>, setting: Omit<Setting, "config"> = {}) {
  const { log, lines } = recordingLog();
  const { context, ...traced } = tracedContext({
    name: "kafka-source",
    log,
    now: () => new Date("2024-05-06T07:08:09.123Z"),
    handler: setting.handler ?? handler,
    ...(setting.emit === undefined ? {} : { emit: setting.emit }),
  });
  const reports: HealthReport[] = [];
  const report = (health: HealthReport) => void reports.push(health);
  const instruments = new PluginInstruments();
  const observed = { ...context, report, metrics: instruments.of(context.name) };
  const source = new KafkaSource({ ...sourceConfig, ...config }, observed);
  return { ...traced, lines, reports, instruments, source };
}

/** A source that runs until the test ends. */
export async function runningSource(context: TestContext, { config, ...setting }: Setting) {
  const { source, lines, reports, instruments, emitted, accounted, refused } = newSource(config, setting);
  const abandon = () => source.stop(AbortSignal.abort());
  context.after(abandon);
  await source.start();
  const stop = () => source.stop(new AbortController().signal);
  const logged = (message: string) =>
    until(
      async () => lines.filter((line) => line.message === message),
      (sight) => sight.length > 0,
    );
  const received = (count: number) =>
    until(
      async () => emitted.map(numberOf),
      (sight) => sight.length >= count,
    );
  return { source, stop, abandon, emitted, accounted, refused, lines, reports, instruments, logged, received };
}

/** A record as Orion writes it: a notification of one entity whose attribute `n` has this value. */
export function notificationRecord(n: number, headers: Readonly<Record<string, string>> = {}): Message {
  const entity = { id: "room-1", type: "Room", n: { type: "Number", value: n, metadata: {} } };
  return record(JSON.stringify({ subscriptionId: "5aeb0ee97d4ef10a12a0262f", data: [entity] }), headers);
}

export function record(value: string | Buffer, headers: Readonly<Record<string, string>> = {}): Message {
  const fields = Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)] as const);
  return { value: Buffer.from(value), headers: new Map(fields) };
}

/** The value of the attribute `n` of an event. */
export function numberOf({ body }: Event): number {
  return JSON.parse(JSON.stringify(body)).attributes[0].value.text * 1;
}
