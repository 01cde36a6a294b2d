import path from "node:path";
import { type LogFormat, type Logging, openLogging, type Screen } from "../../core/logging/logging.js";

export interface TestLoggingOptions {
  /** Gets what would go to standard output. */
  readonly console?: string[];
  /** Gets what could not be logged. */
  readonly problems?: string[];
  readonly format?: LogFormat;
  /** Standard output is a terminal. */
  readonly screen?: Screen;
}

/** Logging whose file is `logging.json` of a folder and whose log files are there too; quiet when not asked. */
export function testLogging(
  folder: string,
  { console = [], problems = [], format = "auto", screen }: TestLoggingOptions = {},
): Promise<Logging> {
  return openLogging({
    file: path.join(folder, "logging.json"),
    folder: path.join(folder, "logs"),
    agent: "test-agent",
    format,
    screen,
    level: "info",
    levelGiven: false,
    report: (problem) => problems.push(problem),
    console: { write: (text) => console.push(text) },
  });
}
