/** One attribute of a device, before it is written in the form of a broker. */
export interface DeviceAttribute {
  readonly name: string;
  readonly kind: "Property" | "GeoProperty" | "Relationship";
  readonly value: unknown;
  readonly unitCode?: string;
  readonly observedAt?: string;
  /** Value of a sub-attribute in the form that has them. */
  readonly accuracy?: number;
}

/** What every form says of one entity. */
export interface Device {
  readonly id: string;
  readonly type: string;
  readonly attributes: readonly DeviceAttribute[];
}

export const observedAt = "2026-01-15T10:20:30.123Z";

/** A device of a city: eight attributes, two of them with metadata, one a geometry. */
export function deviceOf(index: number): Device {
  const address = { streetAddress: "Rua do Cais 12", addressLocality: "Porto", addressCountry: "PT" };
  const temperature = 20 + (index % 100) / 10;
  return {
    id: `urn:ngsi-ld:Device:bench-${index}`,
    type: "Device",
    attributes: [
      { name: "temperature", kind: "Property", value: temperature, unitCode: "CEL", observedAt, accuracy: 0.5 },
      { name: "relativeHumidity", kind: "Property", value: 0.61, observedAt, accuracy: 0.02 },
      { name: "batteryLevel", kind: "Property", value: 0.87 },
      { name: "name", kind: "Property", value: `Weather station ${index} at the harbour, second mast` },
      { name: "location", kind: "GeoProperty", value: { type: "Point", coordinates: [-8.5, 41.2] } },
      { name: "controlledAsset", kind: "Relationship", value: `urn:ngsi-ld:Building:${index}` },
      { name: "address", kind: "Property", value: address },
      { name: "category", kind: "Property", value: ["sensor", "weather"] },
    ],
  };
}
