/** Something wrong in a configuration. An error keeps the agent from starting; a warning does not. */
export interface Fault {
  readonly severity: "error" | "warning";
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
