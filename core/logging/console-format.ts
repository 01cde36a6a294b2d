import { type AppenderDefinition, builtInAppender, layoutOf, sinkOfClass } from "./definitions.js";

/** How console appenders write; `auto`: for people on a terminal, else as their logging file says. */
export type LogFormat = "json" | "pretty" | "auto";

/**
 * The appenders of a start. A format that was asked for is that of all console appenders; `auto` changes those whose layout is
 * JSON, which is for programs, and no pattern. Without any appender there is the built-in one.
 */
export function consoleAppenders(
  definitions: readonly AppenderDefinition[],
  format: LogFormat,
  isScreen: boolean,
): readonly AppenderDefinition[] {
  const known = definitions.filter((one) => sinkOfClass(one.class) !== undefined);
  const all = known.length === 0 ? [builtInAppender] : known;
  return all.map((one) => {
    if (sinkOfClass(one.class) !== "console") return one;
    if (format !== "auto") return { ...one, layout: format };
    return isScreen && layoutOf(one.layout) === "json" ? { ...one, layout: "pretty" } : one;
  });
}
