import { type ConfigurationFault, faultFields, faultText } from "../configuration/configuration-fault.js";
import type { Logger } from "../sdk/index.js";
import type { Terminal } from "./command.js";

interface Finding {
  readonly text: string;
  readonly log: (log: Logger) => void;
}

/**
 * What a start finds before there is a log, and goes on with: lines of the log as soon as there is one, and of standard
 * error when the start ends before.
 */
export class StartFindings {
  readonly #findings: Finding[] = [];

  /** A fault of the properties file, or of an option or variable. */
  add(fault: ConfigurationFault, file?: string): void {
    const text = `${fault.severity}: ${faultText(fault)}`;
    this.#findings.push({ text, log: (log) => logFault(log, fault, file) });
  }

  /** Something else, with a fixed message for the log. */
  warn(reason: string, message: string): void {
    this.#findings.push({ text: `warning: ${reason}`, log: (log) => log.warn({ reason }, message) });
  }

  /** Another process says the same. */
  forget(): void {
    this.#findings.length = 0;
  }

  print(terminal: Terminal): void {
    for (const { text } of this.#findings.splice(0)) terminal.err(text);
  }

  log(log: Logger): void {
    for (const finding of this.#findings.splice(0)) finding.log(log);
  }
}

const levels = { error: "error", warning: "warn", notice: "info" } as const;

export function logFault(log: Logger, fault: ConfigurationFault, file?: string): void {
  const named = file === undefined ? {} : { file };
  const what = fault.severity === "notice" ? "notice about" : "fault in";
  log[levels[fault.severity]]({ ...named, ...faultFields(fault) }, `${what} the configuration`);
}
