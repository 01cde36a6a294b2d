import { AgentError, reasonOf } from "deneb/sdk";

/** The client of NATS. Deneb does not install it: most agents share no log. */
export type NatsClient = typeof import("@nats-io/transport-node");

/** What `npm install` is to be called with; a test compares it with package.json. */
export const installed = "@nats-io/transport-node@~3.3.1";

/** Loads it; nothing else does. Rejects with code `NATS_CLIENT_MISSING`. */
export async function loadClient(): Promise<NatsClient> {
  try {
    return await import("@nats-io/transport-node");
  } catch (cause) {
    const message = `loading the client of NATS, which type jetstream needs (${reasonOf(cause)}); install it where Deneb is installed: npm install ${installed}`;
    throw new AgentError("NATS_CLIENT_MISSING", message, { retryable: false });
  }
}
