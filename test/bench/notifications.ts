/** The body formats that the load is made of. */
export type BodyFormat = "ld" | "v2";

/**
 * So many notification bodies of about 1 KB, one for each entity: a device of a city with eight attributes, two of them
 * with metadata, one a geometry.
 */
export function notificationBodies(entities: number, format: BodyFormat): readonly string[] {
  return Array.from({ length: entities }, (_, index) => JSON.stringify(makers[format](index)));
}

const makers = { ld: ldNotification, v2: v2Notification } satisfies Record<BodyFormat, (index: number) => object>;

function ldNotification(index: number): object {
  const observedAt = "2026-01-15T10:20:30.123Z";
  return {
    id: `urn:ngsi-ld:Notification:${index}`,
    type: "Notification",
    subscriptionId: "urn:ngsi-ld:Subscription:bench",
    notifiedAt: observedAt,
    data: [
      {
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
      },
    ],
    "@context": "https://uri.etsi.org/ngsi-ld/v1/ngsi-ld-core-context-v1.6.jsonld",
  };
}

function v2Notification(index: number): object {
  const metadata = { TimeInstant: { type: "DateTime", value: "2026-01-15T10:20:30.123Z" } };
  return {
    subscriptionId: "5fa2b6c7d8e9f0a1b2c3d4e5",
    data: [
      {
        id: `bench-${index}`,
        type: "Device",
        temperature: { type: "Number", value: 20 + (index % 100) / 10, metadata },
        relativeHumidity: { type: "Number", value: 0.61, metadata },
        batteryLevel: { type: "Number", value: 0.87, metadata: {} },
        name: { type: "Text", value: `Weather station ${index} at the harbour, second mast`, metadata: {} },
        location: { type: "geo:json", value: { type: "Point", coordinates: [-8.5, 41.2] }, metadata: {} },
        controlledAsset: { type: "Text", value: `Building${index}`, metadata: {} },
        address: { type: "StructuredValue", value: { streetAddress: "Rua do Cais 12", city: "Porto" }, metadata: {} },
      },
    ],
  };
}
