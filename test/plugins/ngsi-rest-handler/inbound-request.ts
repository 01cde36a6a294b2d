import type { InboundRequest } from "../../../core/sdk/index.js";
import type { HandlerConfig } from "../../../plugins/ngsi-rest-handler/config.js";

export const handlerConfig: HandlerConfig = {
  notification_target: "/notify",
  default_service: "default",
  default_service_path: "/",
  ngsi_version: "ld",
  attrs_format: "auto",
  max_entities: 50_000,
  max_attributes: 10_000,
  max_name_length: 2048,
  max_depth: 512,
  max_number_length: 1000,
  max_header_length: 4096,
  events_ttl: 2,
};

export interface Sent extends Partial<Omit<InboundRequest, "body">> {
  readonly body?: unknown;
}

/** A request with a notification of two entities, with the given members replaced. */
export function inboundRequest({ body = notification, ...sent }: Sent = {}): InboundRequest {
  return {
    method: "POST",
    path: "/notify",
    headers: { "content-type": "application/json" },
    body: body instanceof Uint8Array ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)),
    receivedAt: new Date(1_700_000_000_123),
    ...sent,
  };
}

const notification = {
  id: "urn:n:1",
  type: "Notification",
  subscriptionId: "s",
  data: [
    { id: "urn:e:1", type: "T", p: { type: "Property", value: 1 } },
    { id: "urn:e:2", type: "T", p: { type: "Property", value: "é" } },
  ],
};
