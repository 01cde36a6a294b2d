import assert from "node:assert/strict";
import type { AgentProcess } from "./agent-process.js";

/** Sends one notification with these entities to an agent; resolves to the status of the answer. */
export async function statusOfPost(url: string, data: readonly object[], service?: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(service === undefined ? {} : { "Fiware-Service": service }) },
    body: JSON.stringify({ id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** The same; it has to be accepted. */
export async function postEntities(
  { notifyUrl }: Pick<AgentProcess, "notifyUrl">,
  data: readonly object[],
  service?: string,
): Promise<void> {
  assert.equal(await statusOfPost(notifyUrl, data, service), 200);
}

/** Room number n, whose attribute `number` says so. */
export function numberedRoom(n: number): object {
  return { id: `urn:room:${n}`, type: "Room", number: { type: "Property", value: n } };
}
