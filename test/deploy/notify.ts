/** Sends a notification of Room:1 with a temperature of 21.5 for the service openiot; resolves to the status of the answer. */
export async function notify(url: string): Promise<number> {
  const body = {
    id: "urn:ngsi-ld:Notification:1",
    type: "Notification",
    subscriptionId: "urn:ngsi-ld:Subscription:1",
    notifiedAt: "2026-01-01T12:00:00Z",
    data: [{ id: "urn:ngsi-ld:Room:1", type: "Room", temperature: { type: "Property", value: 21.5 } }],
  };
  const headers = { "Content-Type": "application/ld+json", "Fiware-Service": "openiot" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  return answer.status;
}
