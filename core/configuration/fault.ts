/**
 * Something to be said about a configuration. An error keeps the agent from starting, a warning fails a check, a notice
 * does neither: it tells the new spelling of an old name.
 */
export interface Fault {
  readonly severity: "error" | "warning" | "notice";
  /** The full key as written in the file, the environment variable or the command line option; `agent` for its name. */
  readonly key: string;
  /** The offending value; absent where there is none, masked where it is a secret. */
  readonly value?: string;
  /** What is wrong and what would be right. */
  readonly reason: string;
  /** The nearest known name, when one is near. */
  readonly nearest?: string;
  /** Line of the file, counted from 1. */
  readonly line?: number;
}
