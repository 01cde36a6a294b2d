import { AgentError } from "../sdk/index.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of OpenTelemetry that its packages do not read themselves. */
interface TracingEnvironment {
  /** Why nothing is traced although tracing is on; undefined when it is traced. */
  readonly off: string | undefined;
  /** Whether `traceparent` of requests counts. */
  readonly takesParents: boolean;
  /** Most spans that wait for their export. */
  readonly mostWaiting: number;
  /** Milliseconds that an export may take. */
  readonly longestExport: number;
  /** Most links of a span. */
  readonly mostLinks: number;
}

/** Throws code `TRACING_SETTING` for a value that the agent cannot follow. */
export function tracingEnvironment(env: Environment): TracingEnvironment {
  check(env, ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"], ["http/protobuf"]);
  check(env, ["OTEL_TRACES_EXPORTER"], ["otlp", "none"]);
  for (const name of endpoints) checkUrl(name, textOf(env, name));
  return {
    off: switches.find(({ name, value }) => textOf(env, name)?.toLowerCase() === value)?.name,
    takesParents: (textOf(env, PROPAGATORS) ?? TRACE_CONTEXT).split(/[\s,]+/).includes(TRACE_CONTEXT),
    mostWaiting: countOf(env, "OTEL_BSP_MAX_QUEUE_SIZE", 2048),
    longestExport: countOf(env, "OTEL_BSP_EXPORT_TIMEOUT", 30_000),
    mostLinks: countOf(env, "OTEL_SPAN_LINK_COUNT_LIMIT", 128),
  };
}

const endpoints = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"] as const;

const switches = [
  { name: "OTEL_SDK_DISABLED", value: "true" },
  { name: "OTEL_TRACES_EXPORTER", value: "none" },
] as const;

const PROPAGATORS = "OTEL_PROPAGATORS";
const TRACE_CONTEXT = "tracecontext";

/** The first of the names that is set counts. */
function check(env: Environment, names: readonly string[], known: readonly string[]): void {
  const name = names.find((one) => textOf(env, one) !== undefined);
  const value = name === undefined ? undefined : textOf(env, name);
  if (value === undefined || known.includes(value)) return;
  const message = `starting to trace: ${name} is "${value}"; give ${known.join(" or ")}, or leave it out`;
  throw new AgentError("TRACING_SETTING", message, { retryable: false });
}

/** The value is not shown: it may hold a password. */
function checkUrl(name: string, value: string | undefined): void {
  if (value === undefined || (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol))) return;
  const message = `starting to trace: ${name} is not a URL; give one such as http://collector:4318`;
  throw new AgentError("TRACING_SETTING", message, { retryable: false });
}

function countOf(env: Environment, name: string, otherwise: number): number {
  const value = Number(textOf(env, name) ?? otherwise);
  return Number.isFinite(value) && value >= 1 ? Math.floor(value) : otherwise;
}

/** An empty variable counts as absent, as the specification of OpenTelemetry says. */
function textOf(env: Environment, name: string): string | undefined {
  const text = env[name]?.trim();
  return text === "" ? undefined : text;
}
