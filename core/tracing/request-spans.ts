import type { Attributes, Link, Span, Tracer } from "@opentelemetry/api";
import { eventHeaders } from "../ngsi/index.js";
import { type InboundRequest, type Reception, traceHeaders } from "../sdk/index.js";
import { type TraceContext, type TraceFields, traceContextOf } from "../sdk/trace-context.js";
import type { RequestTrace } from "../tokens.js";
import { cut, described, fieldsOf, parentOf, spanContextOf } from "./contexts.js";
import type { Packages } from "./packages.js";

/** What a traceparent of a request means. */
export type ParentUse = "continue" | "link" | "ignore";

interface RequestSpansParts {
  readonly api: Packages["api"];
  readonly tracer: Tracer;
  readonly parents: ParentUse;
}

/** A request whose body took longer than this to read began earlier than its span would. */
const slowBody = 2;

/** Spans of requests, from their reception until the channels have their events. */
export class RequestSpans {
  readonly #parts: RequestSpansParts;

  constructor(parts: RequestSpansParts) {
    this.#parts = parts;
  }

  /** Undefined when it is not sampled. */
  begin(source: string, request: InboundRequest): RequestTrace | undefined {
    const { api, tracer, parents } = this.#parts;
    const sent = parents === "ignore" ? undefined : traceContextOf(request.headers);
    const parent = parents === "continue" ? sent : undefined;
    const kind = request.topic === undefined ? api.SpanKind.SERVER : api.SpanKind.CONSUMER;
    const links = parents === "link" ? this.#linksTo(sent) : [];
    const { receivedAt } = request;
    const began = Date.now() - receivedAt.getTime() > slowBody ? { startTime: receivedAt } : {};
    const span = tracer.startSpan(`receive ${source}`, { kind, links, ...began }, this.#contextOf(parent));
    if (!span.isRecording()) return undefined;
    return new RequestSpan({ api, span, source, request });
  }

  #linksTo(sent: TraceContext | undefined): Link[] {
    return sent === undefined ? [] : [{ context: spanContextOf(this.#parts.api, sent) }];
  }

  #contextOf(parent: TraceContext | undefined) {
    const { api } = this.#parts;
    if (parent === undefined) return api.ROOT_CONTEXT;
    return api.trace.setSpanContext(api.ROOT_CONTEXT, spanContextOf(api, parent));
  }
}

interface RequestSpanParts {
  readonly api: Packages["api"];
  readonly span: Span;
  readonly source: string;
  readonly request: InboundRequest;
}

class RequestSpan implements RequestTrace {
  readonly fields: TraceFields;
  readonly headers: RequestTrace["headers"];
  readonly #parts: RequestSpanParts;

  constructor(parts: RequestSpanParts) {
    const context = parts.span.spanContext();
    const state = context.traceState?.serialize() ?? "";
    this.#parts = parts;
    this.fields = fieldsOf(context);
    this.headers = {
      [traceHeaders.parent]: parentOf(context),
      ...(state === "" ? {} : { [traceHeaders.state]: state }),
    };
  }

  ended(reception: Reception, found: Parameters<RequestTrace["ended"]>[1]): void {
    const { span, source, request } = this.#parts;
    const status = reception.accepted ? ACCEPTED : reception.status;
    const attributes = attributesOf(source, request);
    if (request.topic === undefined) attributes["http.response.status_code"] = status;
    addFound(attributes, request, found);
    if (!reception.accepted) {
      attributes["deneb.refusal.cause"] = reception.cause;
      attributes["deneb.refusal.status"] = status;
    }
    span.setAttributes(attributes);
    if (!reception.accepted && status >= SERVER_ERROR) this.#error({ "error.type": reception.cause });
    span.end();
  }

  failed(error: unknown): void {
    const { span, source, request } = this.#parts;
    span.setAttributes(attributesOf(source, request));
    this.#error(described(error));
    span.end();
  }

  #error(attributes: Attributes): void {
    const { api, span } = this.#parts;
    span.setAttributes(attributes);
    span.setStatus({ code: api.SpanStatusCode.ERROR });
  }
}

const ACCEPTED = 200;
const SERVER_ERROR = 500;

/** Names of the semantic conventions of OpenTelemetry. Never a query or a token. Added one by one: spreading takes longer. */
function attributesOf(source: string, { method, path, topic, body }: InboundRequest): Attributes {
  const attributes: Attributes = { "deneb.source": source };
  if (topic === undefined) {
    const query = path.indexOf("?");
    attributes["http.request.method"] = cut(method);
    attributes["url.path"] = cut(query === -1 ? path : path.slice(0, query));
    attributes["http.request.body.size"] = body.byteLength;
  } else {
    attributes["messaging.destination.name"] = cut(topic);
    attributes["messaging.message.body.size"] = body.byteLength;
  }
  return attributes;
}

/** What the handler found out, else the correlator of the request. */
function addFound(
  attributes: Attributes,
  request: InboundRequest,
  { sender, events }: Parameters<RequestTrace["ended"]>[1],
): void {
  const headers = events?.[0]?.headers;
  const correlator = headers?.[eventHeaders.correlator] ?? request.headers[eventHeaders.correlator];
  const transaction = headers?.[eventHeaders.transactionId];
  if (correlator !== undefined) attributes["fiware.correlator"] = cut(correlator);
  if (transaction !== undefined) attributes["deneb.transaction_id"] = cut(transaction);
  if (events !== undefined) attributes["deneb.entities"] = events.length;
  if (sender === undefined) return;
  attributes["fiware.service"] = cut(sender.service);
  attributes["fiware.service_path"] = cut(sender.servicePath);
}
