import type { SpanContext } from "@opentelemetry/api";
import { codeLabel, lastCodeOf } from "../sdk/error-codes.js";
import { codeOf } from "../sdk/index.js";
import type { TraceContext, TraceFields } from "../sdk/trace-context.js";
import type { Packages } from "./packages.js";

/** The context that was sent or read from an event, for a parent or a link. */
export function spanContextOf(api: Packages["api"], context: TraceContext): SpanContext {
  const { traceId, spanId, isSampled, state } = context;
  const traceFlags = isSampled ? api.TraceFlags.SAMPLED : api.TraceFlags.NONE;
  const traceState = state === undefined ? {} : { traceState: api.createTraceState(state) };
  return { traceId, spanId, traceFlags, isRemote: true, ...traceState };
}

/** The `traceparent` of a sampled span. */
export function parentOf({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

export function fieldsOf({ traceId, spanId }: SpanContext): TraceFields {
  return { trace_id: traceId, span_id: spanId };
}

/** What an error is, in codes. Its text stays in the log: it may quote a value, and a table has the name of an entity. */
export function described(error: unknown) {
  const cause = lastCodeOf(error);
  return {
    "error.type": codeLabel(codeOf(error)),
    ...(cause === undefined ? {} : { "deneb.error.cause": codeLabel(cause) }),
  };
}

const MOST_CHARACTERS = 200;

/** What a sender or a store wrote, as a span holds it. Headers that a handler of others made may be no texts. */
export function cut(text: unknown): string {
  return String(text).slice(0, MOST_CHARACTERS);
}
