import { ngsiVersions, statedFormats } from "deneb/ngsi";
import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

/** Longest service that is accepted, in characters: the limit of the context brokers. */
export const SERVICE_LENGTH = 50;

/** Longest service path that is accepted, in characters. */
export const PATH_LENGTH = 50;

/** Whether a service path is accepted. */
export function isPath(path: string): boolean {
  return path.startsWith("/") && path.length <= PATH_LENGTH;
}

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
    doc: "API of the notifications: NGSI-LD, NGSI v2 or NGSI v1; auto detects it from each body, for sites with several.",
    format: ngsiVersions,
    default: "ld",
  },
  attrs_format: {
    doc: "How attributes are written where no header of the broker says it: normalized; keyValues, whose texts are stored without quotes and whose objects are values, except those with a type of NGSI-LD attributes and a value; auto tells it from each attribute.",
    format: statedFormats,
    default: "auto",
  },
  max_entities: {
    doc: "Most entities of a notification; one with more is answered 413.",
    format: "count",
    default: 50_000,
    min: 1,
  },
  max_attributes: {
    doc: "Most attributes of an entity, each counted with its metadata or sub-attributes; a notification with more is answered 413.",
    format: "count",
    default: 10_000,
    min: 1,
  },
  max_name_length: {
    doc: "Most characters of an entity id, a type, and the name of an attribute, of a metadata item or of a sub-attribute; a notification with a longer one is answered 400.",
    format: "count",
    default: 2048,
    min: 63,
  },
  max_depth: {
    doc: "Most levels of nesting of objects and lists in a notification; one with more is answered 400.",
    format: "count",
    default: 512,
    min: 8,
    max: 512,
  },
  max_number_length: {
    doc: "Most characters of a number in a notification; one with a longer number is answered 400.",
    format: "count",
    default: 1000,
    min: 40,
  },
  max_header_length: {
    doc: "Most characters of the headers Link and Fiware-Correlator, which travel with each event; longer ones are answered 400.",
    format: "count",
    default: 4096,
    min: 256,
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
