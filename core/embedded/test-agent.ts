import type { AnyPlugin, Event, HealthReport } from "../sdk/index.js";
import type { AgentConfiguration } from "./agent-configuration.js";

/** What an agent in the process of a test is made of. @beta */
export interface TestAgentOptions {
  /** Definitions besides those that come with Deneb. */
  readonly plugins?: readonly AnyPlugin[];
  /** The components as an object, or the text of a properties file. */
  readonly config?: AgentConfiguration | string;
  /** Environment variables that the configuration may use; none when absent, the environment of the process is not read. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the agent keeps its files; absent: a temporary folder, which is removed when it stops. */
  readonly dataDir?: string;
  /** The clock of the components; that of the system when absent. */
  now?(): Date;
}

/** A request that is handed to a source as if it had received it. @beta */
export interface InjectedRequest {
  /** `POST` when absent. */
  readonly method?: string;
  /** The path at which the handler of the source expects notifications when absent. */
  readonly path?: string;
  /** Names in any case; `content-type` is `application/json` when absent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is written as JSON. */
  readonly body: string | Uint8Array | object;
  /** Name of the source; absent: the first one with a handler. */
  readonly source?: string;
}

/** What a sender over HTTP would be answered. @beta */
export interface InjectAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Why it was refused; absent when it was accepted. */
  readonly reason?: string;
  /** The kind of refusal in a few words with hyphens. */
  readonly cause?: string;
}

/** An event that a sink could not store. @beta */
export interface KeptLetter {
  readonly sink: string;
  /** `permanent`, `retries-exhausted`, `crashed-the-agent` or `stopped`. */
  readonly reason: string;
  readonly code?: string;
  readonly message: string;
  /** Calls of the sink that included the event. */
  readonly attempts: number;
  readonly event: Event;
}

/** A line of the log of the agent. @beta */
export interface TestLogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  /** Name of the component, or of the room of the agent. */
  readonly component: string;
  readonly message: string;
  readonly fields: object;
}

/** A running agent. Several may run in one process; none of them knows the others. @beta */
export interface TestAgent {
  /** Where it keeps its files. */
  readonly dataDir: string;
  /** Every line of the log so far. */
  readonly log: readonly TestLogLine[];
  /** Hands a request to a source with a handler. No port is opened for it. */
  inject(request: InjectedRequest): Promise<InjectAnswer>;
  /** Puts events into the channels of a source, past its handler; absent: of the first source. */
  emit(events: readonly Event[], source?: string): Promise<void>;
  /**
   * Resolves when every event that was accepted is stored, a dead letter or filtered out. Rejects with code `NOT_SETTLED`
   * after that number of milliseconds, 10,000 when absent, and says what still waits.
   */
  settled(milliseconds?: number): Promise<void>;
  /** The events of the sinks of type `keep`, in the order of their arrival; of one sink, or of all. */
  kept(sink?: string): readonly Event[];
  /** The events that could not be stored, oldest first. */
  deadLetters(): Promise<readonly KeptLetter[]>;
  /** The text that `/metrics` would have. */
  metrics(): Promise<string>;
  /** The state of each component by name, and the reasons. Reports are shown at once, not after ten seconds. */
  health(): Readonly<Record<string, Required<Omit<HealthReport, "lasting">>>>;
  /**
   * Goes on with another configuration, and other definitions where they are given: what differs is replaced. Rejects with
   * code `CONFIGURATION_INVALID` or `RELOAD_FAILED`; then the configuration before goes on.
   */
  reload(next: Pick<TestAgentOptions, "config" | "plugins">): Promise<void>;
  /** Stops everything and removes the temporary folder. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Starts an agent in this process, for the tests of a plugin. It opens no port and reads no file unless the configuration
 * names a component that does. Rejects with code `CONFIGURATION_INVALID`, which says everything that is wrong.
 * @beta
 */
export async function testAgent(options: TestAgentOptions = {}): Promise<TestAgent> {
  // Conformance suites do not need the agent, and its modules take a while to load.
  const { startTestAgent } = await import("./start-test-agent.js");
  return await startTestAgent(options);
}
