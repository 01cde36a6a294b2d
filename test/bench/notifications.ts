/** The body formats that the load is made of. */
export type BodyFormat = "ld" | "v2";

/** What the bodies of a load look like. */
export interface BodyShape {
  readonly format: BodyFormat;
  /** Distinct entities of all bodies together. */
  readonly entities: number;
  /** Entities of each body; absent: one. */
  readonly perNotification?: number;
  /** Length of each body, reached with one long text attribute; absent: about 1,000 bytes an entity. */
  readonly bytes?: number;
}

/**
 * The bodies of a load, each entity in one of them: devices of a city with eight attributes (NGSI v2: seven), two of them
 * with metadata, one a geometry.
 */
export function notificationBodies({ format, entities, perNotification = 1, bytes }: BodyShape): readonly string[] {
  const { entity, envelope } = makers[format];
  return Array.from({ length: Math.ceil(entities / perNotification) }, (_, body) => {
    const first = body * perNotification;
    const data = Array.from({ length: Math.min(perNotification, entities - first) }, (_, at) => entity(first + at));
    const plain = JSON.stringify({ ...envelope, data });
    return bytes === undefined ? plain : padded(plain, bytes, format);
  });
}

/** Attributes of each entity, which are its rows in the row layout. */
export function attributesOf(format: BodyFormat): number {
  return Object.keys(makers[format].entity(0)).length - 2;
}

/** The headers of a notification. */
export function headersOf(format: BodyFormat, service: string): Readonly<Record<string, string>> {
  const type = format === "ld" ? "application/ld+json" : "application/json";
  return { "Content-Type": type, "Fiware-Service": service, "Fiware-ServicePath": "/" };
}

/** The body with one more attribute of its last entity, so that it has the wanted length. */
function padded(body: string, bytes: number, format: BodyFormat): string {
  const type = format === "ld" ? "Property" : "Text";
  const attribute = (text: string) => `,"payload":{"type":"${type}","value":"${text}"}`;
  const missing = bytes - Buffer.byteLength(body) - attribute("").length;
  return missing < 0 ? body : body.replace(/\}\]\}$/, `${attribute("x".repeat(missing))}}]}`);
}

interface Maker {
  readonly envelope: object;
  entity(index: number): object;
}

const observedAt = "2026-01-15T10:20:30.123Z";
const metadata = { TimeInstant: { type: "DateTime", value: observedAt } };

const makers = {
  ld: {
    envelope: {
      id: "urn:ngsi-ld:Notification:bench",
      type: "Notification",
      subscriptionId: "urn:ngsi-ld:Subscription:bench",
      notifiedAt: observedAt,
      "@context": "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.6.jsonld",
    },
    entity: (index) => ({
      id: `urn:ngsi-ld:Device:bench-${index}`,
      type: "Device",
      temperature: { type: "Property", value: 20 + (index % 100) / 10, unitCode: "CEL", observedAt },
      relativeHumidity: { type: "Property", value: 0.61, observedAt },
      batteryLevel: { type: "Property", value: 0.87 },
      name: { type: "Property", value: `Weather station ${index} at the harbour, second mast` },
      location: { type: "GeoProperty", value: { type: "Point", coordinates: [-8.5, 41.2] } },
      controlledAsset: { type: "Relationship", object: `urn:ngsi-ld:Building:${index}` },
      address: {
        type: "Property",
        value: { streetAddress: "Rua do Cais 12", addressLocality: "Porto", addressCountry: "PT" },
      },
      category: { type: "Property", value: ["sensor", "weather"] },
    }),
  },
  v2: {
    envelope: { subscriptionId: "5fa2b6c7d8e9f0a1b2c3d4e5" },
    entity: (index) => ({
      id: `bench-${index}`,
      type: "Device",
      temperature: { type: "Number", value: 20 + (index % 100) / 10, metadata },
      relativeHumidity: { type: "Number", value: 0.61, metadata },
      batteryLevel: { type: "Number", value: 0.87, metadata: {} },
      name: { type: "Text", value: `Weather station ${index} at the harbour, second mast`, metadata: {} },
      location: { type: "geo:json", value: { type: "Point", coordinates: [-8.5, 41.2] }, metadata: {} },
      controlledAsset: { type: "Text", value: `Building${index}`, metadata: {} },
      address: { type: "StructuredValue", value: { streetAddress: "Rua do Cais 12", city: "Porto" }, metadata: {} },
    }),
  },
} satisfies Record<BodyFormat, Maker>;
