import path from "node:path";
import { type Logging, openLogging } from "../../core/logging/logging.js";

export interface TestLoggingOptions {
  /** Gets what would go to standard output. */
  readonly console?: string[];
  /** Gets what could not be logged. */
  readonly problems?: string[];
}

/** Logging whose file is `logging.json` of a folder and whose log files are there too; quiet when not asked. */
export function testLogging(
  folder: string,
  { console = [], problems = [] }: TestLoggingOptions = {},
): Promise<Logging> {
  return openLogging({
    file: path.join(folder, "logging.json"),
    folder: path.join(folder, "logs"),
    level: "info",
    levelGiven: false,
    report: (problem) => problems.push(problem),
    console: { write: (text) => console.push(text) },
  });
}
