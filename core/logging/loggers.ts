import { type DestinationStream, type LevelWithSilent, pino } from "pino";
import type { Logger } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";

/** Loggers over pino: one JSON line for each entry, with UTC time, level name and the component. */
export function createLoggers(level: LevelWithSilent, destination?: DestinationStream): Loggers {
  const root = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: "***" },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
  return { of: (component): Logger => root.child({ component }) };
}

/** Fields of these names never show their value, whoever logs them. */
const secretNames = ["password", "rdb_password", "token", "xauthtoken", "authorization"];
