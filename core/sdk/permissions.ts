/**
 * What a plugin uses outside the agent. The agent shows it and compares the configuration with it; it cannot keep the code
 * of a plugin from doing more. In both lists `{name}` stands for what the property of that name says, so that
 * `hosts: ["{url}"]` means the host that an operator configures.
 * @beta
 */
export interface Permissions {
  /** Hosts it connects to: `api.example.org`, `*.example.org` for all below a name, `*` for any. Empty: none. */
  readonly hosts: readonly string[];
  /** Absolute paths of folders it reads or writes besides the data directory of the agent. Empty: none. */
  readonly folders: readonly string[];
  /** Whether it starts other programs. */
  readonly childProcesses: boolean;
}

/** The property that an entry of a list of permissions stands for; undefined when it stands for itself. */
export function permittedProperty(entry: string): string | undefined {
  return /^\{(.+)\}$/.exec(entry)?.[1];
}
