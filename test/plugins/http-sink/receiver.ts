import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { Entity } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import type { HttpSinkConfig } from "../../../plugins/http-sink/config.js";
import { HttpSink } from "../../../plugins/http-sink/http-sink.js";
import { recordingLog } from "../../support/recording-log.js";

export interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Answers a request; the number counts them from 1. */
export type Script = (response: ServerResponse, number: number, received: Received) => void;

export const accepting: Script = (response) => response.writeHead(204).end();

interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** A server that keeps what it receives and answers by a script. */
export async function receiver(context: TestContext, script: Script = accepting, tls?: TlsFiles) {
  const requests: Received[] = [];
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on("request", async (request, response) => {
    const received = { method: request.method, url: request.url, headers: request.headers, body: await text(request) };
    requests.push(received);
    script(response, requests.length, received);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the receiver has no port");
  return { requests, port: address.port, url: `${tls === undefined ? "http" : "https"}://127.0.0.1:${address.port}` };
}

export const sinkConfig: HttpSinkConfig = {
  url: "http://127.0.0.1:1/",
  method: "POST",
  send: "event",
  body: "{{entity}}",
  batch_body: "[{{events}}]",
  batch_separator: ",",
  content_type: "application/json",
  headers: {},
  request_timeout: 30_000,
  max_connections: 4,
  max_retry_after: 300,
  bearer_token: "",
  username: "",
  password: "",
  tls_ca_file: "",
  tls_cert_file: "",
  tls_key_file: "",
  tls_verify: true,
};

export const now = new Date("2026-01-15T10:20:30.000Z");

/** A sink that has started and stops with the test. */
export async function runningSink(
  context: TestContext,
  config: Partial<HttpSinkConfig>,
  lookMillis?: number,
): Promise<HttpSink> {
  const { log } = recordingLog();
  const sink = new HttpSink(
    { ...sinkConfig, ...config },
    { name: "http-sink", log, dataDir: "", run: "run", now: () => now },
    lookMillis,
  );
  context.after(() => sink.stop());
  await sink.start();
  return sink;
}

/** An event of room `id` with its number `n`. */
export function room(id: string, n: number, headers: Readonly<Record<string, string>> = {}): Event<Entity> {
  const value = { kind: "number", text: String(n) } as const;
  const attributes = [{ name: "n", type: "Number", form: "normalized", value, members: [] }] as const;
  return { headers: { "fiware-service": "openiot", ...headers }, body: { id, type: "Room", api: "v2", attributes } };
}

export const patient: AbortSignal = new AbortController().signal;
