import type { ConfigOf, Schema } from "deneb/sdk";

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
    doc: "Longest wait that the other side may ask for with Retry-After, in seconds; a longer one is cut to this.",
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
  tls_ca_file: {
    doc: "File with the certificates of the authorities to trust, PEM; empty for those of Node.",
    format: "text",
    default: "",
  },
  tls_cert_file: { doc: "File with the certificate of this client, PEM; empty for none.", format: "text", default: "" },
  tls_key_file: { doc: "File with the key of that certificate, PEM; empty for none.", format: "text", default: "" },
  tls_verify: {
    doc: "false: any certificate of the other side is taken. Only for trying out.",
    format: "flag",
    default: true,
  },
} as const satisfies Schema;

export type HttpSinkConfig = ConfigOf<typeof httpSinkSchema>;
