import type { RequestListener } from "node:http";
import type { Agent } from "../agent/agent.js";
import type { StrayErrors } from "../agent/stray-errors.js";
import type { Starting } from "../management/starting.js";

/** Milliseconds after which an agent that still starts can be watched. */
const LATE = 1000;

export interface ToStart {
  readonly agent: Agent;
  readonly starting: Starting;
  /** Loads the management interface, once: after the sources have started, since brokers need not wait for it. */
  readonly manage: () => Promise<RequestListener>;
  readonly strays: Pick<StrayErrors, "show">;
}

interface StartLimits {
  readonly gracePeriodSeconds: number;
  readonly stopRequested: AbortSignal;
}

/** Starts the agent, then opens its management interface, whose port is bound already. */
export async function startAndOpen(
  { agent, starting, manage, strays }: ToStart,
  { gracePeriodSeconds, stopRequested }: StartLimits,
): Promise<void> {
  const late = setTimeout(() => {
    // Whoever loads it next meets the same error.
    void manage().then(
      (app) => starting.load(app),
      () => undefined,
    );
  }, LATE);
  try {
    await agent.start(gracePeriodSeconds * 1000, stopRequested);
  } finally {
    clearTimeout(late);
  }
  strays.show();
  try {
    starting.open(await manage());
  } catch (error) {
    await agent.stop(gracePeriodSeconds * 1000);
    throw error;
  }
}
