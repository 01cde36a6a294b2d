export type Json = Readonly<Record<string, unknown>>;

const ldEnvelope = (index: number): Json => ({
  id: `notification:${-5934503869881517 - index}956`,
  type: "Notification",
  subscriptionId: "urn:ngsi-ld:Subscription:f2a6bed0-6c3c-44fe-bb02-55b67171cb29",
  notifiedAt: time(index),
});

const time = (index: number): string => new Date(1_768_472_430_123 + index * 61_007).toISOString();

/** An LD notification of `entities` devices with these attributes. */
export function ld(index: number, attributes: (index: number) => Json, entities = 1): Json {
  const data = Array.from({ length: entities }, (_, at) => ({
    id: `urn:ngsi-ld:Device:bench-${index * entities + at}`,
    type: "Device",
    ...attributes(index * entities + at),
  }));
  return { ...ldEnvelope(index), data };
}

export function v2(index: number, attributes: (index: number) => Json, entities = 1): Json {
  const data = Array.from({ length: entities }, (_, at) => ({
    id: `bench-${index * entities + at}`,
    type: "Device",
    ...attributes(index * entities + at),
  }));
  return { subscriptionId: "5fa2b6c7d8e9f0a1b2c3d4e5", data };
}

/** One text, number or structure for each attribute of a device. */
export const values = (index: number) => ({
  temperature: 20 + (index % 100) / 10,
  relativeHumidity: 0.61,
  batteryLevel: 0.87,
  name: `Weather station ${index} at the harbour, second mast`,
  location: { type: "Point", coordinates: [-8.5 - index / 1000, 41.2 + index / 1000] },
  controlledAsset: `urn:ngsi-ld:Building:${index}`,
  address: { streetAddress: `Rua do Cais ${index}`, addressLocality: "Porto", addressCountry: "PT" },
  category: ["sensor", "weather"],
});

export const normalized = (index: number): Json => {
  const { temperature, relativeHumidity, batteryLevel, name, location, controlledAsset, address, category } =
    values(index);
  return {
    temperature: { type: "Property", value: temperature, unitCode: "CEL", observedAt: time(index) },
    relativeHumidity: { type: "Property", value: relativeHumidity, observedAt: time(index) },
    batteryLevel: { type: "Property", value: batteryLevel },
    name: { type: "Property", value: name },
    location: { type: "GeoProperty", value: location },
    controlledAsset: { type: "Relationship", object: controlledAsset },
    address: { type: "Property", value: address },
    category: { type: "Property", value: category },
  };
};

export const subAttributes = (index: number): Json => {
  const { temperature, relativeHumidity, ...others } = values(index);
  const accuracy = { type: "Property", value: 0.5, provider: { type: "Relationship", object: "urn:ngsi-ld:Org:1" } };
  const observedBy = { type: "Relationship", object: `urn:ngsi-ld:Sensor:${index}` };
  return {
    ...normalized(index),
    temperature: { type: "Property", value: temperature, observedAt: time(index), accuracy, observedBy },
    relativeHumidity: { type: "Property", value: relativeHumidity, observedAt: time(index), accuracy },
    batteryLevel: { type: "Property", value: others.batteryLevel, observedBy },
  };
};

export const concise = (index: number): Json => {
  const { temperature, relativeHumidity, controlledAsset, address, ...others } = values(index);
  return {
    temperature: { value: temperature, unitCode: "CEL", observedAt: time(index) },
    relativeHumidity: { value: relativeHumidity, observedAt: time(index) },
    controlledAsset: { object: controlledAsset },
    address: { value: address },
    ...others,
  };
};

export const v2Normalized = (index: number): Json => {
  const { temperature, relativeHumidity, batteryLevel, name, location, controlledAsset, address } = values(index);
  const metadata = { TimeInstant: { type: "DateTime", value: time(index) }, unit: { type: "Text", value: "CEL" } };
  return {
    temperature: { type: "Number", value: temperature, metadata },
    relativeHumidity: { type: "Number", value: relativeHumidity, metadata },
    batteryLevel: { type: "Number", value: batteryLevel, metadata: {} },
    name: { type: "Text", value: name, metadata: {} },
    location: { type: "geo:json", value: location, metadata: {} },
    controlledAsset: { type: "Text", value: controlledAsset, metadata: {} },
    address: { type: "StructuredValue", value: address, metadata: {} },
  };
};
