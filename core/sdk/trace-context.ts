/**
 * The headers of an event that hold the trace context of its notification (W3C Trace Context). They are there while tracing is
 * on and the notification is sampled. A sink that calls another system passes them on; a source that makes its own events may set them.
 * @beta
 */
export const traceHeaders = {
  /** `00-<trace id>-<span id>-01` of the span of the reception. */
  parent: "traceparent",
  /** What tracing systems on the way have added; often absent. */
  state: "tracestate",
} as const;

/** The place of a span in its trace. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** As it was sent; undefined when absent or longer than is passed on. */
  readonly state: string | undefined;
}

/** For log lines, by the names of OpenTelemetry. */
export interface TraceFields {
  readonly trace_id?: string;
  readonly span_id?: string;
}

type Headers = Readonly<Record<string, string>>;

/** What the headers of a request or an event say; undefined when they say nothing or it is not valid. */
export function traceContextOf(headers: Headers): TraceContext | undefined {
  const text = headers[traceHeaders.parent];
  // Nobody has checked the headers that a handler of others made.
  if (typeof text !== "string" || text.length > LONGEST) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = PARENT.exec(text.trim()) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (NO_ID.test(traceId) || NO_ID.test(spanId)) return undefined;
  const state = headers[traceHeaders.state];
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  return {
    traceId,
    spanId,
    isSampled,
    state: typeof state === "string" && state.length <= LONGEST ? state : undefined,
  };
}

/** The fields for a log line about an event with these headers. */
export function traceFieldsOf(headers: Headers): TraceFields {
  if (headers[traceHeaders.parent] === undefined) return {};
  const { traceId, spanId } = traceContextOf(headers) ?? {};
  return traceId === undefined || spanId === undefined ? {} : { trace_id: traceId, span_id: spanId };
}

const PARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/;
const NO_ID = /^0+$/;
const SAMPLED = 1;
/** A sender decides what these headers hold, and every event carries them. */
const LONGEST = 512;
