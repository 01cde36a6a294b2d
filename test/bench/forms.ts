import { type Device, type DeviceAttribute, observedAt } from "./device.js";
import { scorpioText } from "./scorpio-text.js";

/** One way in which a broker writes a notification. */
interface Form {
  /** What the name of a case says of it; empty for the packaged one. */
  readonly words: string;
  readonly api: "ld" | "v2";
  /** Entities of each notification. */
  readonly perNotification: number;
  readonly envelope: object;
  entity(device: Device): object;
  text(notification: object): string;
  headers(service: string): Readonly<Record<string, string>>;
}

/** The forms that the load is made of, by the word that a body shape has. */
export type BodyFormat = keyof typeof forms;

const id = "urn:ngsi-ld:Notification:bench";
const subscriptionId = "urn:ngsi-ld:Subscription:bench";
const context = "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.6.jsonld";
const link = `<${context}>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"`;

const ld = {
  words: "",
  api: "ld",
  perNotification: 1,
  envelope: { id, type: "Notification", subscriptionId, notifiedAt: observedAt, "@context": context },
  entity: (device) => written(device, ldAttribute),
  text: JSON.stringify,
  headers: (service) => ({
    "Content-Type": "application/ld+json",
    "Fiware-Service": service,
    "Fiware-ServicePath": "/",
  }),
} as const satisfies Form;

const v2 = {
  words: "NGSI v2",
  api: "v2",
  perNotification: 1,
  envelope: { subscriptionId: "5fa2b6c7d8e9f0a1b2c3d4e5" },
  entity: (device) => written(inOrder(device), v2Attribute),
  text: JSON.stringify,
  headers: (service) => orionHeaders(service, "normalized"),
} as const satisfies Form;

export const forms = {
  ld,
  "ld-pretty": {
    ...ld,
    words: "pretty-printed NGSI-LD",
    envelope: { id, type: "Notification", subscriptionId, notifiedAt: "2026-01-15T10:20:30.123000Z" },
    entity: (device) => written(inOrder(device), scorpioAttribute),
    text: scorpioText,
    headers: (service) => ({
      "user-agent": "Vert.x-WebClient/4.5.9",
      "NGSILD-Tenant": service,
      Link: link,
      Accept: "application/json",
      "Content-Type": "application/json",
    }),
  },
  "ld-sub-attributes": {
    ...ld,
    words: "NGSI-LD with sub-attributes",
    entity: (device) => written(device, (one) => ({ ...ldAttribute(one), ...subAttribute(one) })),
  },
  "ld-concise": { ...ld, words: "concise NGSI-LD", entity: (device) => written(device, conciseAttribute) },
  "ld-simplified": { ...ld, words: "simplified NGSI-LD", entity: (device) => written(device, ({ value }) => value) },
  "ld-several": { ...ld, words: "5 entities in a notification", perNotification: 5 },
  v2,
  "v2-keyvalues": {
    ...v2,
    words: "NGSI v2 keyValues",
    entity: (device) => written(inOrder(device), ({ value }) => value),
    headers: (service) => orionHeaders(service, "keyValues"),
  },
} as const satisfies Record<string, Form>;

export const bodyFormats = Object.keys(forms).filter((name): name is BodyFormat => name in forms);

function written({ id, type, attributes }: Device, write: (attribute: DeviceAttribute) => unknown): object {
  return { id, type, ...Object.fromEntries(attributes.map((one) => [one.name, write(one)])) };
}

/** As brokers keep them: by name. */
function inOrder(device: Device): Device {
  return { ...device, attributes: device.attributes.toSorted((one, other) => (one.name < other.name ? -1 : 1)) };
}

function ldAttribute({ kind, value, unitCode, observedAt: at }: DeviceAttribute): object {
  return { type: kind, ...valueMember(kind, value), ...metadata(unitCode, at) };
}

function scorpioAttribute({ kind, value, unitCode, observedAt: at }: DeviceAttribute): object {
  return {
    type: kind,
    ...valueMember(kind, value),
    ...(at === undefined ? {} : { observedAt: at }),
    ...unit(unitCode),
  };
}

/** A value without anything beside it stands alone. */
function conciseAttribute({ kind, value, unitCode, observedAt: at }: DeviceAttribute): unknown {
  if (kind === "Relationship") return { object: value };
  const beside = metadata(unitCode, at);
  return kind === "GeoProperty" || Object.keys(beside).length === 0 ? value : { value, ...beside };
}

function v2Attribute({ kind, value, unitCode, observedAt: at }: DeviceAttribute): object {
  const timeInstant = at === undefined ? {} : { TimeInstant: { type: "DateTime", value: at } };
  const unitItem = unitCode === undefined ? {} : { unit: { type: "Text", value: unitCode } };
  return { type: v2Type(kind, value), value, metadata: { ...timeInstant, ...unitItem } };
}

function v2Type(kind: DeviceAttribute["kind"], value: unknown): string {
  if (kind === "GeoProperty") return "geo:json";
  if (typeof value === "object") return "StructuredValue";
  return typeof value === "number" ? "Number" : "Text";
}

/** How exact a measured value is, and who says so. */
function subAttribute({ accuracy: value }: DeviceAttribute): object {
  const provider = { type: "Relationship", object: "urn:ngsi-ld:Organization:harbour" };
  return value === undefined ? {} : { accuracy: { type: "Property", value, provider } };
}

function valueMember(kind: DeviceAttribute["kind"], value: unknown): object {
  return kind === "Relationship" ? { object: value } : { value };
}

function metadata(unitCode: string | undefined, at: string | undefined): object {
  return { ...unit(unitCode), ...(at === undefined ? {} : { observedAt: at }) };
}

function unit(unitCode: string | undefined): object {
  return unitCode === undefined ? {} : { unitCode };
}

function orionHeaders(service: string, attrsFormat: string): Readonly<Record<string, string>> {
  return {
    "User-Agent": "orion/4.1.0 libcurl/7.88.1",
    "Fiware-Service": service,
    "Fiware-Servicepath": "/",
    Accept: "application/json",
    "Content-Type": "application/json; charset=utf-8",
    "Fiware-Correlator": "5d1f3c2a-e645-11f1-8a9f-02fc00000001; cbnotif=1",
    "Ngsiv2-AttrsFormat": attrsFormat,
  };
}
