import { setTimeout as pause } from "node:timers/promises";
import { isRecord } from "../sdk/event.js";
import { askManagement, type ManagementAddress } from "./ask-management.js";
import { deadLettersPath } from "./letters-of-agent.js";

/** Milliseconds that are waited for the store. */
const LONGEST = 10_000;
const BETWEEN = 250;
const NOT_FOUND = 404;

/** What came of a dead letter that was replayed, for people: asked of the running agent until it is known, or for ten seconds. */
export async function outcomeOf(id: string, address: ManagementAddress, longest = LONGEST): Promise<string> {
  const end = performance.now() + longest;
  for (;;) {
    const { status, body, failure } = await askManagement(
      address,
      "GET",
      `${deadLettersPath}/${encodeURIComponent(id)}`,
    );
    if (status === NOT_FOUND) return "stored";
    if (failure !== undefined) return `what came of it cannot be read: ${failure}`;
    const letter = isRecord(body["deadletter"]) ? body["deadletter"] : {};
    if (letter["state"] === "waiting") return `failed again: ${String(letter["message"])}`;
    if (performance.now() > end) return `still on its way: see deneb dead-letters show ${id}`;
    await pause(BETWEEN);
  }
}
