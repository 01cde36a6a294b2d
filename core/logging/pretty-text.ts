import { type LogRecord, messageOf, onOneLine } from "./log-record.js";

/** How a record is written for people, in colors or without. */
export type PrettyText = (colors: boolean) => (record: LogRecord) => string;

/** Loads what writes for people: an agent whose log goes to a program starts without it. */
export async function loadPrettyText(): Promise<PrettyText> {
  const { prettyFactory } = await import("pino-pretty");
  return (colors) => {
    const write = prettyFactory({ colorize: colors, hideObject: true, translateTime: false });
    // All texts of the entry are escaped before: what is left to be shown as it is are the colors.
    return (record) =>
      write({
        time: record.time.toISOString(),
        level: record.level.toLowerCase(),
        name: onOneLine(record.agent === undefined ? record.logger : `${record.agent}/${record.logger}`),
        msg: messageOf(record),
      });
  };
}
