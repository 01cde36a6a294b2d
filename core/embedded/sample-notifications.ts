/** A notification as a broker sends it. @beta */
export interface SampleNotification {
  /** A few words for people. */
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

const service = { "fiware-service": "openiot", "fiware-servicepath": "/rooms" } as const;

/** One notification of NGSI-LD with two entities, and one of NGSI v2 with one; both of the service `openiot`. @beta */
export const sampleNotifications: Readonly<Record<"ld" | "v2", SampleNotification>> = {
  ld: {
    name: "NGSI-LD, two entities",
    headers: { ...service, "content-type": "application/json" },
    body: JSON.stringify({
      id: "urn:ngsi-ld:Notification:1",
      type: "Notification",
      subscriptionId: "urn:ngsi-ld:Subscription:1",
      notifiedAt: "2026-01-15T10:20:30.123Z",
      data: [
        {
          id: "urn:ngsi-ld:Room:1",
          type: "Room",
          temperature: { type: "Property", value: 21.5, unitCode: "CEL", observedAt: "2026-01-15T10:20:30.000Z" },
          isPartOf: { type: "Relationship", object: "urn:ngsi-ld:Building:1" },
          location: { type: "GeoProperty", value: { type: "Point", coordinates: [-3.7, 40.4] } },
        },
        {
          id: "urn:ngsi-ld:Room:2",
          type: "Room",
          temperature: { type: "Property", value: 19 },
          occupied: { type: "Property", value: true },
          name: { type: "Property", value: 'Sala d\'été "2"' },
        },
      ],
    }),
  },
  v2: {
    name: "NGSI v2, one entity",
    headers: { ...service, "content-type": "application/json", "ngsiv2-attrsformat": "normalized" },
    body: JSON.stringify({
      subscriptionId: "5fd6c8a4e9d2b6f1a0c3d4e5",
      data: [
        {
          id: "Room3",
          type: "Room",
          temperature: { type: "Number", value: 23.25, metadata: { accuracy: { type: "Number", value: 0.5 } } },
          lastMaintenance: { type: "DateTime", value: "2026-01-14T08:00:00.000Z" },
          tags: { type: "StructuredValue", value: ["quiet", "south"] },
        },
      ],
    }),
  },
};
