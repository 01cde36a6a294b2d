import { ngsiVersions } from "deneb/ngsi";
import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

/** Longest service that is accepted, in characters: the limit of the context brokers. */
export const SERVICE_LENGTH = 50;

/** Longest service path that is accepted, in characters. */
export const PATH_LENGTH = 50;

export const handlerSchema = {
  notification_target: {
    doc: "Path at which notifications are accepted. Compared exactly, without the query string.",
    format: "text",
    default: "/notify",
  },
  default_service: {
    doc: "Service of notifications that name none. Letters, digits and _.",
    format: "text",
    default: "default",
    maxLength: SERVICE_LENGTH,
  },
  default_service_path: {
    doc: "Service path of NGSI v2 and v1 notifications that name none. No effect on NGSI-LD, where it is always /.",
    format: "text",
    default: "/",
    maxLength: PATH_LENGTH,
  },
  ngsi_version: {
    doc: "API of the notifications: NGSI-LD, NGSI v2 or NGSI v1; auto tells it from each body, for sites that have several.",
    format: ngsiVersions,
    default: "ld",
  },
  events_ttl: {
    doc: "Accepted for existing files, without effect: see batch_ttl of the sink.",
    format: "integer",
    default: 2,
    min: -1,
  },
} as const satisfies Schema;

export type HandlerConfig = ConfigOf<typeof handlerSchema>;

export function checkHandler(config: HandlerConfig): readonly PropertyFault<typeof handlerSchema>[] {
  return rules.filter(({ property, pattern }) => !pattern.test(config[property]));
}

const rules = [
  { property: "notification_target", pattern: /^\/[^?#\s]*$/, reason: "must start with / and hold no ?, # or blank" },
  { property: "default_service", pattern: /^\w+$/, reason: "must be letters, digits and _ only" },
  { property: "default_service_path", pattern: /^\//, reason: "must start with /" },
] as const;
