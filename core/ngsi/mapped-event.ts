import type { Event } from "../sdk/index.js";
import { eventHeaders } from "./headers.js";
import { isEntity } from "./model.js";
import type { NameMappings } from "./name-mappings.js";

/**
 * The event with its mapped names beside the original ones: service and service path in headers of their own, and the
 * mapped entity as the member `mapped` of the body when it differs. An event that holds no entity stays as it is.
 */
export function withMappedNames(event: Event, mappings: NameMappings): Event {
  const { headers, body } = event;
  if (!isEntity(body)) return event;
  const { service, servicePath, entity } = mappings.apply({
    service: headers[eventHeaders.service] ?? "",
    servicePath: headers[eventHeaders.servicePath] ?? "",
    entity: body,
  });
  return {
    headers: { ...headers, [eventHeaders.mappedService]: service, [eventHeaders.mappedServicePath]: servicePath },
    body: entity === body ? body : { ...body, mapped: entity },
  };
}

/** The event as it is after the name mappings; the same event when none were applied. */
export function mappedEvent(event: Event): Event {
  const { headers, body } = event;
  const service = headers[eventHeaders.mappedService];
  const servicePath = headers[eventHeaders.mappedServicePath];
  if (service === undefined || servicePath === undefined) return event;
  return {
    headers: { ...headers, [eventHeaders.service]: service, [eventHeaders.servicePath]: servicePath },
    body: mappedBody(body),
  };
}

function mappedBody(body: unknown): unknown {
  return typeof body === "object" && body !== null && "mapped" in body ? body.mapped : body;
}
