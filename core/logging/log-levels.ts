import type { LevelWithSilent } from "pino";

/** The levels of the management interface and of the logging file, each with the level of pino it stands for. */
const pinoLevels = {
  FATAL: "fatal",
  ERROR: "error",
  WARN: "warn",
  INFO: "info",
  DEBUG: "debug",
  ALL: "trace",
  OFF: "silent",
} as const satisfies Record<string, LevelWithSilent>;

export type LogLevel = keyof typeof pinoLevels;

export function pinoLevel(level: LogLevel): LevelWithSilent {
  return pinoLevels[level];
}

/** Whether the text is a level exactly as the management interface writes it. */
export function isLogLevel(text: string): text is LogLevel {
  return Object.hasOwn(pinoLevels, text);
}

/** The level of that name in any letter case; undefined when there is none. */
export function parseLogLevel(text: string): LogLevel | undefined {
  const level = text.toUpperCase();
  return isLogLevel(level) ? level : undefined;
}
