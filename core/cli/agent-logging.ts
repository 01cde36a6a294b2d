import path from "node:path";
import { isGiven, type KernelFlags, type KernelSettings } from "../configuration/schema/kernel-settings.js";
import { type Logging, openLogging } from "../logging/logging.js";
import type { Terminal } from "./command.js";
import type { StartFindings } from "./start-findings.js";

/** What the log of a process of an agent depends on. */
interface LoggedProcess {
  /** The name of the agent. */
  readonly agent: string;
  readonly settings: KernelSettings;
  readonly options: KernelFlags;
  /** Of its start. */
  readonly findings: StartFindings;
}

/** Runs the work of a process with the logging that its settings ask for. */
export async function withLogging(
  { agent, settings, options, findings }: LoggedProcess,
  terminal: Terminal,
  work: (logging: Logging) => Promise<number>,
): Promise<number> {
  const logging = await openLogging({
    file: settings.logging,
    folder: path.join(settings.dataDir, "logs"),
    level: settings.logLevel,
    levelGiven: isGiven("logLevel", options, terminal.env),
    agent,
    worker: terminal.worker?.role.number,
    format: settings.logFormat,
    screen: terminal.screen,
    report: (problem) => terminal.err(`warning: ${problem}`),
  });
  try {
    findings.log(logging.loggers.of("deneb"));
    return await work(logging);
  } finally {
    logging.close();
  }
}
