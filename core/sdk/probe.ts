/** What a probe found. @beta */
export interface ProbeResult {
  /** `warning`: the component works, and somebody should act soon. `failed`: it could not work now. */
  readonly outcome: "ok" | "warning" | "failed";
  /** What was found, for people; without secrets. */
  readonly reason?: string;
  /** What to do about it. */
  readonly remedy?: string;
}

/** One thing that `deneb check --connect` tries for a component before an agent runs. @beta */
export interface Probe {
  /** What is tried, in a few words: `log in to db.example.org:5432 as "agent"`. Without secrets. */
  readonly tries: string;
  /**
   * Tries it, and leaves nothing behind: neither rows nor files, and nobody who is connected is disturbed. An error is a
   * failure; what follows its last semicolon counts as the remedy. An error with code `PORT_IN_USE` or `FOLDER_IN_USE` is no
   * failure while an agent runs with this configuration: that agent holds it. When the signal aborts its result is not waited for any more.
   */
  run(signal: AbortSignal): Promise<ProbeResult>;
  /** What is tried after this one, one by one; skipped when it failed. */
  readonly next?: readonly Probe[];
}

/** How a component uses a folder. @beta */
export interface FolderUse {
  /** True for a folder that the component locks for itself. */
  readonly locked?: boolean;
  /** The most bytes that the component may keep there. */
  readonly mostBytes?: number;
}

/** Probes that many components need, made by the agent. @beta */
export interface Examiner {
  /** Whether a folder is there or can be made, can be written to, has room, and is held by another process. */
  folder(folder: string, use?: FolderUse): Probe;
  /** Whether a TCP port can be listened on: it is, for a moment. */
  port(port: number, host: string): Probe;
  /** Judges how long a certificate, PEM or DER, is valid: a failure when it is not, a warning when it ends within 30 days. */
  certificate(certificate: string | Uint8Array): ProbeResult;
}

/** A component that `deneb check --connect` can try. @beta */
export interface Examined {
  /**
   * What to try, of this configuration. Called on a component that is not started, and never will be; `stop` is called after
   * the last probe. Absent: the agent tries what the schema says of ports, folders and URLs.
   */
  probes?(examiner: Examiner): readonly Probe[];
}
