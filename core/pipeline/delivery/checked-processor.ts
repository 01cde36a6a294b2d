import { AgentError, type Logger, reasonOf, type SinkProcessor } from "../../sdk/index.js";

export interface ProcessorParts {
  /** Of the group. */
  readonly name: string;
  /** Names of the sinks of the group, in the order of the configuration. */
  readonly sinks: readonly string[];
  readonly processor: SinkProcessor;
  /** Its type, for messages. */
  readonly processorType?: string;
  readonly log: Logger;
}

/** The sink processor of a group, whatever its plugin returns or throws. */
export class CheckedProcessor {
  readonly #parts: ProcessorParts;
  /** What was wrong with an order and is logged. */
  readonly #orderFaults = new Set<string>();

  constructor(parts: ProcessorParts) {
    this.#parts = parts;
  }

  /** The names of sinks of the group, each once at the most. Throws code `GROUP_FAILED` when the processor throws. */
  order(): readonly string[] {
    const { sinks } = this.#parts;
    const ordered: unknown = this.#ordered();
    if (!Array.isArray(ordered)) {
      this.#tellOrderFault("returned no list of sinks; they are tried in the order of the configuration");
      return sinks;
    }
    const known = ordered.filter((name) => sinks.includes(name));
    const once = [...new Set(known)];
    if (known.length < ordered.length) this.#tellOrderFault("named a sink that is not in the group; it is left out");
    if (once.length < known.length) this.#tellOrderFault("named a sink twice; it is tried once");
    return once;
  }

  /** What is stored stays stored, and another sink may follow, whatever the processor thinks of it. */
  tell(sink: string, outcome: "succeeded" | "failed"): void {
    try {
      this.#parts.processor[outcome](sink);
    } catch (error) {
      const fields = { sink, outcome, reason: reasonOf(error) };
      this.#parts.log.error(fields, "the sink processor of the group failed; its order of sinks may be wrong");
    }
  }

  /** Its type as a part of a sentence. */
  get ofType(): string {
    const { processorType } = this.#parts;
    return processorType === undefined ? "" : ` of type "${processorType}"`;
  }

  #ordered(): readonly string[] {
    const { name, sinks, processor } = this.#parts;
    try {
      return processor.order([...sinks]);
    } catch (cause) {
      const message = `ordering the sinks of group "${name}" by its sink processor${this.ofType}`;
      throw new AgentError("GROUP_FAILED", message, { cause, retryable: true });
    }
  }

  #tellOrderFault(fault: string): void {
    if (this.#orderFaults.has(fault)) return;
    this.#orderFaults.add(fault);
    const { name, processorType, log } = this.#parts;
    log.error(
      { group: name, processor: processorType, fault },
      "wrong order of a sink processor; its plugin must be corrected",
    );
  }
}
