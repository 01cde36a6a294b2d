import type { KernelSettings } from "../configuration/kernel-settings.js";
import { AgentError } from "../sdk/index.js";

type Address = Pick<KernelSettings, "managementHost" | "managementPort">;

/** Milliseconds an answer may take. */
const patience = 60_000;

/** Sends one request to the management interface of a running agent; throws what it refuses. */
export async function askManagement(address: Address, method: string, path: string): Promise<object> {
  const reply: unknown = await answerOf(address, method, path);
  if (typeof reply !== "object" || reply === null) {
    throw new AgentError("NOT_AN_AGENT", `asking ${place(address)}: the answer is not that of an agent`);
  }
  if ("success" in reply && reply.success === "true") return reply;
  const reason = "error" in reply ? String(reply.error) : "no reason given";
  throw new AgentError("REFUSED", `the agent at ${place(address)} refused: ${reason}`);
}

async function answerOf(address: Address, method: string, path: string): Promise<unknown> {
  try {
    const response = await fetch(`http://${place(address)}${path}`, { method, signal: AbortSignal.timeout(patience) });
    return await response.json();
  } catch (cause) {
    const remedy = "start it, or give --management-host and --management-port as it has them";
    throw new AgentError("NO_AGENT", `no agent answers at ${place(address)}; ${remedy}`, { cause });
  }
}

function place({ managementHost, managementPort }: Address): string {
  const host = managementHost === "0.0.0.0" ? "127.0.0.1" : managementHost === "::" ? "::1" : managementHost;
  return `${host.includes(":") ? `[${host}]` : host}:${managementPort}`;
}
