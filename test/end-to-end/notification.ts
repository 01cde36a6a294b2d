/** A notification with one entity, as an NGSI-LD broker sends it. */
export function notification(id: string, temperature: number): string {
  return JSON.stringify({
    id: "urn:ngsi-ld:Notification:1",
    type: "Notification",
    subscriptionId: "urn:ngsi-ld:Subscription:1",
    notifiedAt: "2026-01-15T10:20:30.123Z",
    data: [{ id, type: "Room", temperature: { type: "Property", value: temperature, unitCode: "CEL" } }],
  });
}

/** Posts a body for service openiot; resolves to the status. */
export async function post(url: string, body: string): Promise<number> {
  const headers = { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.arrayBuffer();
  return response.status;
}
