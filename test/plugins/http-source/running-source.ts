import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import type { TestContext } from "node:test";
import type { Emit, Event, Handler, HealthReport, Logger } from "../../../core/sdk/index.js";
import type { HttpConfig } from "../../../plugins/http-source/config.js";
import { HttpSource } from "../../../plugins/http-source/http-source.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import type { LogLine } from "../../support/recording-log.js";
import { tracedContext } from "../../support/traced-context.js";
import { handlerConfig } from "../ngsi-rest-handler/inbound-request.js";

export const receivedAt = new Date("2024-05-06T07:08:09.123Z");

export const httpConfig: HttpConfig = {
  port: 0,
  bind: "127.0.0.1",
  max_body_size: 10_485_760,
  max_header_size: 16_384,
  keep_alive_timeout: 75_000,
  request_timeout: 30_000,
  headers_timeout: 15_000,
  max_connections: 5000,
  max_bytes_in_flight: 134_217_728,
  retry_after: 1,
  tls_key: "",
  tls_certificate: "",
  tls_client_ca: "",
  token: [],
};

const handler = new NgsiRestHandler({ ...handlerConfig, default_service: "def_serv_ld" });

export interface Setting {
  readonly config?: Partial<HttpConfig>;
  readonly handler?: Handler;
  /** Called after the events were recorded. */
  readonly emit?: Emit;
  /** Milliseconds between two looks at the files of TLS. */
  readonly lookMillis?: number;
}

/** A source that was not started, with the real handler, and everything that it hands on; it is stopped with the test. */
export function createdSource(context: TestContext, setting: Setting = {}) {
  const emitted: Event[] = [];
  const { log, lines, logged } = observedLog();
  const traced = tracedContext({
    name: "http-source",
    log,
    now: () => receivedAt,
    handler: setting.handler ?? handler,
    emit: async (events) => {
      emitted.push(...events);
      await setting.emit?.(events);
    },
  });
  const { accounted, refused } = traced;
  const health: HealthReport[] = [];
  const report = (one: HealthReport) => {
    health.push(one);
  };
  const config = { ...httpConfig, ...setting.config };
  const source = new HttpSource(config, { ...traced.context, report }, setting.lookMillis);
  context.after(() => source.stop(AbortSignal.abort()));
  return { source, emitted, accounted, refused, lines, logged, health };
}

/** The same, started. */
export async function runningSource(context: TestContext, setting: Setting = {}) {
  const created = createdSource(context, setting);
  await created.source.start();
  const { port } = created.source;
  assert.ok(port !== undefined);
  return { ...created, port };
}

function observedLog() {
  const lines: LogLine[] = [];
  const messages = new EventEmitter();
  const write = (level: LogLine["level"]) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
    messages.emit(message);
  };
  const log: Logger = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  return { log, lines, logged: (message: string) => once(messages, message) };
}
