import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { gunzipSync } from "node:zlib";
import { bytesIn, type Message, messagesIn, numberIn, readMessage } from "./protobuf.js";

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A span as a collector receives it. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  readonly traceState: string;
  readonly name: string;
  readonly kind: string;
  readonly milliseconds: number;
  readonly attributes: Attributes;
  readonly events: readonly { readonly name: string; readonly attributes: Attributes }[];
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: "unset" | "ok" | "error";
  readonly resource: Attributes;
}

export interface Collector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly endpoint: string;
  /** In the order of their arrival. */
  readonly spans: readonly ReceivedSpan[];
  readonly requests: number;
  /** How it answers from now on: takes spans, refuses them, does not answer at all, or sends an answer that never ends. */
  answer(how: "take" | "refuse" | "hang" | "drip"): void;
  close(): Promise<void>;
}

/** A collector of OpenTelemetry that speaks OTLP over HTTP with protocol buffers. */
export async function startCollector(context: Pick<TestContext, "after">, port = 0): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const open = new Set<ServerResponse>();
  let how: Parameters<Collector["answer"]>[0] = "take";
  let requests = 0;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests += 1;
    const body = Buffer.concat(chunks);
    if (how === "hang") return void open.add(response);
    if (how === "drip") return drip(response);
    if (how === "refuse" || request.url !== "/v1/traces") return void response.writeHead(400).end();
    spans.push(...spansIn(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
    response.writeHead(200, { "Content-Type": "application/x-protobuf" }).end();
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const close = () => closed(server);
  context.after(close);
  return {
    endpoint: `http://127.0.0.1:${addressOf(server).port}`,
    spans,
    get requests() {
      return requests;
    },
    answer: (next) => {
      how = next;
    },
    close,
  };
}

/** The time without a byte never gets long. */
function drip(response: ServerResponse): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write("x"), 50);
  response.once("close", () => clearInterval(timer));
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the collector does not listen");
  return address;
}

async function closed(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const states = ["unset", "ok", "error"] as const;

/** The spans of an ExportTraceServiceRequest of opentelemetry-proto 1. */
function spansIn(body: Buffer): readonly ReceivedSpan[] {
  return messagesIn(readMessage(body), 1).flatMap((ofResource) => {
    const resource = Object.assign({}, ...messagesIn(ofResource, 1).map((one) => attributesIn(one, 1)));
    const scopes = messagesIn(ofResource, 2);
    return scopes.flatMap((scope) => messagesIn(scope, 2)).map((span) => spanOf(span, resource));
  });
}

function spanOf(span: Message, resource: Attributes): ReceivedSpan {
  const [status = new Map()] = messagesIn(span, 15);
  return {
    traceId: bytesIn(span, 1).toString("hex"),
    spanId: bytesIn(span, 2).toString("hex"),
    traceState: bytesIn(span, 3).toString(),
    parentId: bytesIn(span, 4).toString("hex"),
    name: bytesIn(span, 5).toString(),
    kind: kinds[numberIn(span, 6)] ?? "unknown",
    milliseconds: (numberIn(span, 8) - numberIn(span, 7)) / 1e6,
    attributes: attributesIn(span, 9),
    events: messagesIn(span, 11).map((event) => ({
      name: bytesIn(event, 2).toString(),
      attributes: attributesIn(event, 3),
    })),
    links: messagesIn(span, 13).map((link) => ({
      traceId: bytesIn(link, 1).toString("hex"),
      spanId: bytesIn(link, 2).toString("hex"),
    })),
    status: states[numberIn(status, 3)] ?? "unset",
    resource,
  };
}

function attributesIn(message: Message, field: number): Attributes {
  return Object.fromEntries(
    messagesIn(message, field).map((pair) => {
      const [value = new Map()] = messagesIn(pair, 2);
      return [bytesIn(pair, 1).toString(), anyValue(value)];
    }),
  );
}

function anyValue(value: Message): string | number | boolean {
  if (value.has(2)) return numberIn(value, 2) === 1;
  if (value.has(3)) return numberIn(value, 3);
  return bytesIn(value, 1).toString();
}
