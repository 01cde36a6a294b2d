import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

const HOUR_IN_MILLIS = 3_600_000;

export const httpSchema = {
  port: {
    doc: "Port to listen on; 0 lets the system choose.",
    format: "port",
  },
  bind: {
    doc: "Address or host name to listen on: 0.0.0.0 is every IPv4 address, :: every address.",
    format: "text",
    default: "0.0.0.0",
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
    doc: "Milliseconds that an idle connection is kept open for the next request; 0 is for ever.",
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
    doc: "Milliseconds within which the headers of a request must arrive; at most request_timeout, 0 is no limit of their own.",
    format: "millis",
    default: 15_000,
    max: HOUR_IN_MILLIS,
  },
  retry_after: {
    doc: "Seconds that a sender is asked to wait when a channel is full (header Retry-After of the answer 503).",
    format: "seconds",
    default: 1,
  },
} as const satisfies Schema;

export type HttpConfig = ConfigOf<typeof httpSchema>;

export function checkHttp(config: HttpConfig): readonly PropertyFault<typeof httpSchema>[] {
  const { headers_timeout, request_timeout } = config;
  if (request_timeout === 0 || headers_timeout <= request_timeout) return [];
  return [{ property: "headers_timeout", reason: `must not be above request_timeout, which is ${request_timeout}` }];
}
