import { validateHeaderName } from "node:http";
import { type ConfigOf, checkTls, type PropertyFault, type Schema, tlsProperties } from "deneb/sdk";
import { filled, parseTemplate, templateFault } from "./template.js";

export const httpSinkSchema = {
  url: {
    doc: "Where to send; a template, in which only path and query may hold {{...}}. Values are percent-encoded.",
    format: "text",
    resource: "url",
  },
  method: { doc: "Method of the requests.", format: ["POST", "PUT", "PATCH"], default: "POST" },
  send: {
    doc: "event: one request for each event. batch: one request for all events of a batch with the same URL and headers.",
    format: ["event", "batch"],
    default: "event",
  },
  body: {
    doc: "Template for each event; the entity as NGSI JSON when not given.",
    format: "text",
    default: "{{entity}}",
  },
  batch_body: {
    doc: "With send = batch: template of the request, in which {{events}} stands for the bodies of its events.",
    format: "text",
    default: "[{{events}}]",
  },
  batch_separator: { doc: "With send = batch: what stands between two bodies.", format: "text", default: "," },
  content_type: { doc: "Content type of the requests.", format: "text", default: "application/json" },
  headers: {
    doc: "Further headers, each a template: headers.Fiware-Service = {{header.fiware-service}}.",
    format: "map",
    default: {},
    sensitive: true,
  },
  request_timeout: {
    doc: "Milliseconds a request may take, connecting and the whole answer included.",
    format: "millis",
    default: 30_000,
    min: 1,
  },
  max_connections: {
    doc: "Most requests at the same time. Events of one entity never overtake each other.",
    format: "count",
    default: 4,
    min: 1,
  },
  max_retry_after: {
    doc: "Longest wait that the server may ask for with Retry-After, in seconds; a longer one is cut to this.",
    format: "seconds",
    default: 300,
  },
  bearer_token: {
    doc: "Token for the header Authorization: Bearer; empty for none.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_HTTP_TOKEN",
    envFile: "AGENT_HTTP_TOKEN_FILE",
  },
  username: {
    doc: "User for the header Authorization: Basic; empty for none.",
    format: "text",
    default: "",
    env: "AGENT_HTTP_USER",
    envFile: "AGENT_HTTP_USER_FILE",
  },
  password: {
    doc: "Password of that user.",
    format: "text",
    default: "",
    sensitive: true,
    env: "AGENT_HTTP_PASS",
    envFile: "AGENT_HTTP_PASS_FILE",
  },
  ...tlsProperties,
} as const satisfies Schema;

export type HttpSinkConfig = ConfigOf<typeof httpSinkSchema>;

type Fault = PropertyFault<typeof httpSinkSchema>;

/** Faults that no format can judge. */
export function checkHttpSink(config: HttpSinkConfig): readonly Fault[] {
  const { bearer_token, username, password } = config;
  return [
    ...fault("url", urlFault(config.url)),
    ...fault("body", templateFault(config.body, "body")),
    ...fault("batch_body", templateFault(config.batch_body, "batch")),
    ...Object.entries(config.headers).flatMap(([name, text]) => fault("headers", headerFault(name, text))),
    ...fault("content_type", /[^\t\x20-\x7e]/.test(config.content_type) ? "must be printable ASCII" : undefined),
    ...fault("password", password !== "" && username === "" ? "must be given with username" : undefined),
    ...fault("username", username.includes(":") ? "must not hold a colon, which ends it in a request" : undefined),
    ...fault("bearer_token", bearer_token !== "" && username !== "" ? "must not be given with username" : undefined),
    ...fault("bearer_token", /[^\x21-\x7e]/.test(bearer_token) ? "must be printable ASCII without blanks" : undefined),
    ...checkTls(config),
  ];
}

function fault(property: Fault["property"], reason: string | undefined): readonly Fault[] {
  return reason === undefined ? [] : [{ property, reason }];
}

function urlFault(text: string): string | undefined {
  const wrong = templateFault(text, "url");
  if (wrong !== undefined) return wrong;
  const url = sampleUrl(text, "a");
  if (url === undefined || !/^https?:$/.test(url.protocol)) return "must be http://host/path or https://host/path";
  if (url.username !== "" || url.password !== "") return "must not hold a user or password; use username and password";
  return sampleUrl(text, "b")?.origin === url.origin ? undefined : "must name scheme, host and port without {{...}}";
}

function sampleUrl(text: string, value: string): URL | undefined {
  const sample = filled(parseTemplate(text), () => value);
  return URL.canParse(sample) ? new URL(sample) : undefined;
}

const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
]);

function headerFault(name: string, text: string): string | undefined {
  if (ownHeaders.has(name.toLowerCase())) return `"${name}" is written by the sink itself and must not be given`;
  try {
    validateHeaderName(name);
  } catch {
    return `"${name}" is not the name of a header`;
  }
  if (/[^\t\x20-\x7e]/.test(text)) return `"${name}" must be printable ASCII`;
  return templateFault(text, "header");
}
