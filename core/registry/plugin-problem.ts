/** A plugin that was found but cannot be used; the agent goes on without it. */
export interface PluginProblem {
  /** The file or folder it is about. */
  readonly origin: string;
  readonly cause: string;
  /** What to do about it. */
  readonly remedy: string;
}
