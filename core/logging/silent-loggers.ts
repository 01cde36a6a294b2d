import type { Loggers } from "../tokens.js";

/** Loggers for a command that speaks for itself. */
export const silentLoggers: Loggers = {
  of: () => ({ debug: nothing, info: nothing, warn: nothing, error: nothing }),
};

function nothing(): void {}
