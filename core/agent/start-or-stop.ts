import { withinLimit } from "../pipeline/supervision.js";
import { AgentError, codeOf } from "../sdk/index.js";
import type { Running } from "./component.js";

interface Start {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  readonly grace: AbortSignal;
}

/**
 * Starts a component of an agent that runs. One that never ends starting must not keep the agent from going back, or from
 * stopping; what could not start may still hold a port or a file, and is stopped.
 */
export async function startOrStop({ name }: Running, { start, stop, grace }: Start): Promise<void> {
  try {
    await withinLimit(start, { what: `starting "${name}"`, milliseconds: 0, signal: grace });
  } catch (error) {
    await stop();
    if (codeOf(error) !== "NOT_ENDED") throw error;
    const remedy = "see whether the servers that it uses answer, or raise --grace-period";
    throw new AgentError("NOT_ENDED", `starting "${name}" did not end within the grace period; ${remedy}`, {
      retryable: true,
    });
  }
}
