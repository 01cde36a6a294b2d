import { type DestinationStream, type Logger as PinoLogger, pino } from "pino";

/** The logger above all others: one JSON line for each entry, with UTC time, level name and the fields of the entry. */
export function pinoRoot(destination: DestinationStream): PinoLogger {
  return pino(
    {
      level: "trace",
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`]), censor: "***" },
    },
    destination,
  );
}

/** Fields of these names never show their value, whoever logs them. */
const secretNames = ["password", "rdb_password", "token", "xauthtoken", "authorization"];
