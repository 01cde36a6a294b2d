import type { Handover, Source } from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import { type Behind, Inlet } from "./inlet.js";
import { Intake, type IntakeContext } from "./intake.js";
import { readTls } from "./tls.js";

export class HttpSource implements Source {
  readonly #config: HttpConfig;
  readonly #context: IntakeContext;
  readonly #intake: Intake;
  #inlet: Inlet | undefined;
  #predecessor: Inlet | undefined;
  #stopped: Promise<void> | undefined;

  constructor(config: HttpConfig, context: IntakeContext) {
    this.#config = config;
    this.#context = context;
    this.#intake = new Intake(config, context);
  }

  /** The port it listens on; undefined while it does not. */
  get port(): number | undefined {
    return this.#inlet?.port;
  }

  async start(): Promise<void> {
    const { port, bind: host } = this.#config;
    const { log, name } = this.#context;
    const behind = { config: this.#config, intake: this.#intake, tls: await readTls(this.#config, name), log };
    const inlet = await this.#opened(behind);
    // What ended meanwhile must not take the socket from the one that has it now.
    if (this.#stopped !== undefined) return inlet === this.#predecessor ? undefined : inlet.close();
    inlet.lead(behind);
    this.#inlet = inlet;
    log.info({ host, port: inlet.port ?? port }, "listening");
  }

  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= this.#close(signal);
    return this.#stopped;
  }

  /** The socket stays open, and so do its connections; requests wait in it for the next source. */
  async handOver(signal: AbortSignal): Promise<Handover | undefined> {
    const inlet = this.#inlet;
    this.#inlet = undefined;
    if (inlet === undefined) return undefined;
    inlet.hold();
    await this.#intake.untilIdle(signal);
    return inlet;
  }

  takeOver(handover: Handover): boolean {
    if (!(handover instanceof Inlet) || handover.address.port !== this.#config.port) return false;
    this.#predecessor = handover;
    return true;
  }

  async #opened(behind: Behind): Promise<Inlet> {
    const { port, bind: host } = this.#config;
    const inlet = this.#predecessor;
    if (inlet?.port !== undefined && inlet.address.host === host) return inlet;
    // Two sockets cannot listen on one port of addresses that overlap.
    await inlet?.close();
    return await Inlet.open({ source: this.#context.name, port, host }, behind);
  }

  async #close(signal: AbortSignal): Promise<void> {
    if (this.#inlet === undefined) return;
    await this.#inlet.close(signal);
    this.#context.log.info({}, "stopped listening");
  }
}
