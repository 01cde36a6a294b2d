import { AgentError, reasonOf } from "../sdk/index.js";

/** The packages of OpenTelemetry. Deneb does not install them: most agents do not trace. */
export interface Packages {
  readonly api: typeof import("@opentelemetry/api");
  readonly sdk: typeof import("@opentelemetry/sdk-trace-base");
  readonly resources: typeof import("@opentelemetry/resources");
  readonly otlp: typeof import("@opentelemetry/exporter-trace-otlp-proto");
}

/** What `npm install` is to be called with; a test compares it with package.json. */
export const installed: readonly string[] = [
  "@opentelemetry/api@^1.9.1",
  "@opentelemetry/exporter-trace-otlp-proto@^0.223.1",
  "@opentelemetry/resources@^2.12.1",
  "@opentelemetry/sdk-trace-base@^2.12.1",
];

/** Loads them; nothing else does. Rejects with code `TRACING_UNAVAILABLE`. */
export async function loadPackages(): Promise<Packages> {
  try {
    const [api, sdk, resources, otlp] = await Promise.all([
      import("@opentelemetry/api"),
      import("@opentelemetry/sdk-trace-base"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/exporter-trace-otlp-proto"),
    ]);
    return { api, sdk, resources, otlp };
  } catch (cause) {
    const remedy = `install the packages of OpenTelemetry where Deneb is installed: npm install ${installed.join(" ")}`;
    const message = `loading what --tracing needs: ${remedy}; or start without --tracing (${reasonOf(cause)})`;
    throw new AgentError("TRACING_UNAVAILABLE", message, { retryable: false });
  }
}
