import { AgentError, reasonOf } from "deneb/sdk";

/** The client library. Deneb does not install it: most agents have no Kafka. */
export type Library = typeof import("@platformatic/kafka");

/** What `npm install` is to be called with; a test compares it with package.json. */
const installed = "@platformatic/kafka@^1.35.0";

/** Loads it; nothing else does. Rejects with code `KAFKA_CLIENT_MISSING`. */
export async function loadLibrary(
  load: () => Promise<Library> = () => import("@platformatic/kafka"),
): Promise<Library> {
  try {
    return await load();
  } catch (cause) {
    const remedy = `install it where Deneb is installed: npm install ${installed}`;
    const message = `loading the client library for Kafka: ${remedy} (${reasonOf(cause)})`;
    throw new AgentError("KAFKA_CLIENT_MISSING", message, { cause, retryable: false });
  }
}
