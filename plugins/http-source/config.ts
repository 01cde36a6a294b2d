import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

const HOUR_IN_MILLIS = 3_600_000;

export const httpSchema = {
  port: {
    doc: "Port to listen on; 0 lets the system choose.",
    format: "port",
    resource: "port",
  },
  bind: {
    doc: "Address or host name to listen on: 0.0.0.0 is every IPv4 address, :: every address.",
    format: "text",
    default: "0.0.0.0",
    resource: "host",
  },
  max_body_size: {
    doc: "Largest body accepted, in bytes; a larger one is answered 413.",
    format: "count",
    default: 10_485_760,
    min: 1,
  },
  max_header_size: {
    doc: "Largest size of all headers of a request together, in bytes; larger ones are answered 431.",
    format: "count",
    default: 16_384,
    min: 1024,
  },
  keep_alive_timeout: {
    doc: "Milliseconds that an idle connection is kept open for the next request, and one whose sender reads none of its responses; 0 is no limit.",
    format: "millis",
    default: 75_000,
    max: HOUR_IN_MILLIS,
  },
  request_timeout: {
    doc: "Milliseconds within which a whole request must arrive, else it is answered 408; 0 is no limit.",
    format: "millis",
    default: 30_000,
    max: HOUR_IN_MILLIS,
  },
  headers_timeout: {
    doc: "Milliseconds within which the headers of a request must arrive; at most request_timeout, 0 is no separate limit.",
    format: "millis",
    default: 15_000,
    max: HOUR_IN_MILLIS,
  },
  max_connections: {
    doc: "Most connections open at once; further ones are answered 503 and closed.",
    format: "count",
    default: 5000,
    min: 1,
  },
  max_bytes_in_flight: {
    doc: "Most bytes of bodies held at once, of all connections together; a body for which there is no room is answered 503. A quarter is kept for bodies up to 256 KiB, and a single body of max_body_size always has room. -1: an eighth of the memory that the process may use, and 128 MiB at most.",
    format: "integer",
    default: -1,
    min: -1,
  },
  retry_after: {
    doc: "Value of the header Retry-After, in seconds, of responses 503 whose cause does not determine it.",
    format: "seconds",
    default: 1,
  },
  tls_key: {
    doc: "PEM file with the private key of the source; with tls_certificate it speaks HTTPS only.",
    format: "text",
    default: "",
  },
  tls_certificate: {
    doc: "PEM file with the certificate of the source, and those between it and its CA.",
    format: "text",
    default: "",
  },
  tls_client_ca: {
    doc: "PEM file with the CAs of senders; then only senders with a certificate of one of them are served.",
    format: "text",
    default: "",
  },
  token: {
    doc: "Tokens of which a request must carry one, as `Authorization: Bearer <token>` or as `X-Auth-Token`; others are answered 401. Several are separated by blanks or commas. When empty no token is required.",
    format: "words",
    default: [],
    env: "AGENT_HTTP_TOKEN",
    envFile: "AGENT_HTTP_TOKEN_FILE",
    sensitive: true,
  },
} as const satisfies Schema;

export type HttpConfig = ConfigOf<typeof httpSchema>;

export function checkHttp(config: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  return [...checkAddress(config), ...checkBodies(config), ...checkTimeouts(config), ...checkTls(config)];
}

function checkBodies({ max_bytes_in_flight }: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  if (max_bytes_in_flight !== 0) return [];
  return [{ property: "max_bytes_in_flight", reason: "must be at least 1, or -1 for a part of the memory" }];
}

/** Several words, a path, a URL, a name or IPv4 address with a port: looked up in vain at each start. */
const NO_HOST = /[\s,;"'/]|\]:|^[^:]*:\d+$/;
const LINK_LOCAL = /^fe[89ab][\da-f]:/i;

function checkAddress({ bind }: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  if (/^\[.*\]$/.test(bind)) return [{ property: "bind", reason: "must be without brackets, as ::1" }];
  if (NO_HOST.test(bind))
    return [
      {
        property: "bind",
        reason: "must be one address or name of this machine, and nothing else; its port is the property port",
      },
    ];
  if (!LINK_LOCAL.test(bind) || bind.includes("%")) return [];
  return [{ property: "bind", reason: `must name the interface of a link-local address, as ${bind}%eth0` }];
}

function checkTimeouts({ headers_timeout, request_timeout }: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  if (request_timeout === 0 || headers_timeout <= request_timeout) return [];
  return [{ property: "headers_timeout", reason: `must not be above request_timeout, which is ${request_timeout}` }];
}

function checkTls({
  tls_key,
  tls_certificate,
  tls_client_ca,
}: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  const wanted = [tls_key, tls_certificate, tls_client_ca].some((file) => file !== "");
  return [
    ...(wanted && tls_key === "" ? [{ property: "tls_key", reason: "must be given too, TLS needs it" } as const] : []),
    ...(wanted && tls_certificate === ""
      ? [{ property: "tls_certificate", reason: "must be given too, TLS needs it" } as const]
      : []),
  ];
}
