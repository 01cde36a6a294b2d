/** One form in which brokers send a notification, as small as it can be. */
export interface BrokerForm {
  readonly what: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Schema and table of its entities. */
  readonly table: string;
  /** Some columns of its row, as they are read. */
  readonly row: Readonly<Record<string, string | null>>;
}

const link = '<http://127.0.0.1:6260/c.jsonld>; rel="http://www.w3.org/ns/json-ld#context"; type="application/ld+json"';
const json = { "content-type": "application/json", link };
const point = { type: "Point", coordinates: [13.35, 52.51] };
const property = (value: unknown, more: object = {}) => ({ type: "Property", value, ...more });

/** Pretty-printed, as Scorpio writes it. */
function ld(data: unknown): string {
  const id = "notification:-5934503869881517956";
  const notifiedAt = "2026-11-22T06:44:46.448000Z";
  return JSON.stringify({ id, type: "Notification", subscriptionId: "urn:s:1", notifiedAt, data }, undefined, 2);
}

function v2(data: unknown): string {
  return JSON.stringify({ subscriptionId: "6b0298c15617dadf53075d7b", data });
}

const room = (attributes: object, type: unknown = "Room") => ({ id: "urn:ngsi-ld:Room:1", type, ...attributes });
const number = (value: unknown, metadata: object = {}) => ({ type: "Number", value, metadata });

const ldForms: readonly BrokerForm[] = [
  {
    what: "the default tenant",
    headers: json,
    body: ld([room({ big: 0 })]).replace('"big": 0', '"big": {"type": "Property", "value": 9007199254740993}'),
    table: "svc.room",
    row: { big: "9007199254740993" },
  },
  {
    what: "the default tenant after a restart",
    headers: { ...json, "ngsild-tenant": ")$%^&" },
    body: ld([room({ t: property(1) })]),
    table: "_____.room",
    row: { t: "1" },
  },
  {
    what: "every type of attribute",
    headers: { ...json, "ngsild-tenant": "types" },
    body: ld([
      room({
        t: property(21.5, { observedAt: "2026-01-01T12:00:00.123Z", unitCode: "CEL" }),
        isin: { type: "Relationship", object: "urn:b:1" },
        name: { type: "LanguageProperty", languageMap: { de: "Küche", ja: "台所" } },
        kind: { type: "VocabProperty", vocab: "open" },
        note: { type: "JsonProperty", json: { n: null } },
        list: { type: "ListProperty", valueList: [1, "two", true] },
        friends: { type: "ListRelationship", objectList: [{ object: "urn:p:7" }] },
        location: { type: "GeoProperty", value: point },
      }),
    ]),
    table: "types.room",
    row: {
      t: "21.5",
      t_unitcode: "CEL",
      isin: "urn:b:1",
      name: '{"de":"Küche","ja":"台所"}',
      kind: "open",
      note: '{"n":null}',
      list: '[1,"two",true]',
      friends: '[{"object":"urn:p:7"}]',
      location: JSON.stringify(point),
    },
  },
  {
    what: "several instances, of several types, in scopes",
    headers: { ...json, "ngsild-tenant": "several" },
    body: ld([
      room({ scope: ["/a", "/b"], speed: [property(0), property(1, { datasetId: "urn:ds:gps" })], t: property(1) }, [
        "Room",
        "Vehicle",
      ]),
    ]),
    table: "several._room_vehicle_",
    row: { entitytype: "[Room,Vehicle]", t: "1" },
  },
  {
    what: "keyValues",
    headers: { ...json, "ngsild-tenant": "plain" },
    body: ld([room({ t: 22, list: [1, 2], location: point })]),
    table: "plain.room",
    row: { t: "22", list: "[1,2]", location: JSON.stringify(point) },
  },
  {
    what: "concise",
    headers: { ...json, "ngsild-tenant": "concise" },
    body: ld([room({ t: { value: 7, unitCode: "CEL" }, isin: { object: "urn:b:1" }, name: { languageMap: {} } })]),
    table: "concise.room",
    row: { t: "7", t_unitcode: "CEL", isin: "urn:b:1", name: "{}" },
  },
  {
    what: "JSON-LD, with its context in each entity",
    headers: { "content-type": "application/ld+json", "ngsild-tenant": "jsonld" },
    body: ld([room({ t: property(1), "@context": ["http://127.0.0.1:6260/c.jsonld"] })]),
    table: "jsonld.room",
    row: { t: "1" },
  },
  {
    what: "GeoJSON",
    headers: { "content-type": "application/geo+json", "ngsild-tenant": "geo" },
    body: ld({
      type: "FeatureCollection",
      features: [
        {
          id: "urn:ngsi-ld:Room:1",
          type: "Feature",
          geometry: point,
          properties: { type: "Room", location: { type: "GeoProperty", value: point } },
        },
      ],
    }),
    table: "geo.room",
    row: { location: JSON.stringify(point) },
  },
  {
    what: "the service of receiverInfo, system attributes and previous values",
    headers: { ...json, "ngsild-tenant": "sys", "fiware-service": "chosen", authorization: "Bearer t0k3n" },
    body: ld([
      room({
        createdAt: "2026-11-22T07:08:31.465000Z",
        t: property(22, { createdAt: "2026-11-22T07:08:31.465000Z", previousValue: 21.5 }),
        isin: { type: "Relationship", previousObject: "urn:b:1", deletedAt: "2026-11-22T07:08:33.664000Z" },
      }),
    ]),
    table: "chosen.room",
    row: { t: "22", isin: null },
  },
];

const orion = (format: string) => ({
  "content-type": "application/json; charset=utf-8",
  "fiware-service": format.toLowerCase(),
  "fiware-servicepath": "/park",
  "fiware-correlator": "8d3e7f6a-0000-11f0-8de9-000000000000; cbnotif=1",
  "ngsiv2-attrsformat": format,
});
const obj = { value: 1, type: "x" };

const v2Forms: readonly BrokerForm[] = [
  {
    what: "normalized",
    headers: orion("normalized"),
    body: v2([
      room({
        t: number(21.5, { unit: { type: "Text", value: "CEL" } }),
        none: { type: "None", value: null, metadata: {} },
        alterationType: { type: "Text", value: "entityUpdate", metadata: {} },
      }),
    ]),
    table: "normalized.park_room",
    row: { fiwareservicepath: "/park", t: "21.5", none: null },
  },
  {
    what: "keyValues",
    headers: orion("keyValues"),
    body: v2([room({ t: 21.5, text: "x", obj })]),
    table: "keyvalues.park_room",
    row: { t: "21.5", text: "x", obj: JSON.stringify(obj) },
  },
  {
    what: "simplifiedNormalized",
    headers: orion("simplifiedNormalized"),
    body: JSON.stringify(room({ t: number(1), obj: { type: "StructuredValue", value: obj, metadata: {} } })),
    table: "simplifiednormalized.park_room",
    row: { t: "1", obj: JSON.stringify(obj) },
  },
  {
    what: "simplifiedKeyValues",
    headers: orion("simplifiedKeyValues"),
    body: JSON.stringify(room({ t: 1, obj })),
    table: "simplifiedkeyvalues.park_room",
    row: { t: "1", obj: JSON.stringify(obj) },
  },
];

/** The forms of recorded requests that are stored. */
export const brokerForms: readonly BrokerForm[] = [
  ...ldForms.map((form) => ({ ...form, what: `NGSI-LD: ${form.what}` })),
  ...v2Forms.map((form) => ({ ...form, what: `NGSI v2: ${form.what}` })),
];

/** The form that cannot be stored. */
export const withoutIds = { headers: orion("values"), body: v2([[21.5, obj]]) };
