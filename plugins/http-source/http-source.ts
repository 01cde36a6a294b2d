import {
  type Examiner,
  FailureLog,
  type Followed,
  followFiles,
  type Handover,
  type Probe,
  reasonOf,
  type Source,
} from "deneb/sdk";
import type { HttpConfig } from "./config.js";
import { MOST_IN_PROCESS } from "./connection-limit.js";
import { Listener, type ListenerOwner } from "./listener.js";
import { type HttpContext, Responder } from "./responder.js";
import { namesSameFiles, readTls, type TlsOptions } from "./tls.js";

export class HttpSource implements Source {
  readonly #config: HttpConfig;
  readonly #context: HttpContext;
  readonly #responder: Responder;
  #listener: Listener | undefined;
  #predecessor: Listener | undefined;
  #stopped: Promise<void> | undefined;
  readonly #lookMillis: number | undefined;
  readonly #unusable: FailureLog;
  #endFollowing = () => {};

  /** `lookMillis` is the time between two looks at the files of TLS. */
  constructor(config: HttpConfig, context: HttpContext, lookMillis?: number) {
    this.#config = config;
    this.#context = context;
    this.#responder = new Responder(config, context);
    this.#lookMillis = lookMillis;
    this.#unusable = new FailureLog(context.log, "the files of TLS can be used again");
  }

  /** The port it listens on; undefined while it does not. */
  get port(): number | undefined {
    return this.#listener?.port;
  }

  probes(examiner: Examiner): readonly Probe[] {
    const { port, bind, tls_key, tls_certificate } = this.#config;
    const listening = examiner.port(port, bind);
    if (tls_key === "") return [listening];
    const tries = `use the key and the certificate "${tls_certificate}"`;
    const run = async () => examiner.certificate((await readTls(this.#config, this.#context.name))?.cert ?? "");
    return [listening, { tries, run }];
  }

  async start(): Promise<void> {
    const { port, bind: host } = this.#config;
    const { log } = this.#context;
    const owner = { config: this.#config, responder: this.#responder, tls: await this.#tls(), log };
    const listener = await this.#opened(owner);
    // A source that was stopped in the meantime must not take the socket from its present owner.
    if (this.#stopped !== undefined) return listener === this.#predecessor ? undefined : listener.close();
    listener.serveFor(owner);
    this.#listener = listener;
    if (owner.tls !== undefined) this.#follow(listener, owner.tls);
    log.info({ host, port: listener.port ?? port }, "listening");
    this.#warnOfFiles();
  }

  #warnOfFiles(): void {
    const { max_connections } = this.#config;
    if (max_connections <= MOST_IN_PROCESS) return;
    const remedy = "raise the limit of open files (ulimit -Hn, LimitNOFILE), or lower max_connections";
    const fields = { max_connections, connections: MOST_IN_PROCESS, remedy };
    this.#context.log.warn(
      fields,
      "fewer connections than max_connections may be open: this process may open too few files",
    );
  }

  stop(signal: AbortSignal): Promise<void> {
    this.#stopped ??= this.#close(signal);
    return this.#stopped;
  }

  /** The socket and its connections stay open; requests wait in the listener for the next source. */
  async handOver(signal: AbortSignal): Promise<Handover | undefined> {
    this.#endFollowing();
    const listener = this.#listener;
    this.#listener = undefined;
    if (listener === undefined) return undefined;
    listener.hold();
    await this.#responder.untilIdle(signal);
    return listener;
  }

  takeOver(handover: Handover): boolean {
    if (!(handover instanceof Listener) || handover.address.port !== this.#config.port) return false;
    this.#predecessor = handover;
    return true;
  }

  /** At a reload files that are being replaced, or are gone, take a source that works from nobody. */
  async #tls(): Promise<TlsOptions | undefined> {
    try {
      return await readTls(this.#config, this.#context.name);
    } catch (error) {
      const before = this.#predecessor?.owner;
      if (before?.tls === undefined || !namesSameFiles(before.config, this.#config)) throw error;
      this.#cannotUse(error);
      return before.tls;
    }
  }

  /** Files that were replaced count for the connections that come then. */
  #follow(listener: Listener, first: TlsOptions): void {
    const { name, log } = this.#context;
    const followed: Followed<TlsOptions | undefined> = {
      read: () => readTls(this.#config, name),
      first,
      use: (tls) => {
        listener.secure(tls);
        log.info({ certificate: this.#config.tls_certificate }, "the files of TLS were replaced, and are in use");
      },
      looked: (error) => (error === undefined ? this.#canUse() : this.#cannotUse(error)),
    };
    this.#endFollowing = followFiles(followed, this.#lookMillis);
  }

  #cannotUse(error: unknown): void {
    this.#unusable.failed("error", error, { message: "the files of TLS that were read before stay in use" });
    this.#context.report?.({ state: "degraded", reason: reasonOf(error) });
  }

  #canUse(): void {
    if (!this.#unusable.isFailing) return;
    this.#unusable.works();
    this.#context.report?.({ state: "up" });
  }

  async #opened(owner: ListenerOwner): Promise<Listener> {
    const { port, bind: host } = this.#config;
    const listener = this.#predecessor;
    if (listener?.port !== undefined && listener.address.host === host) return listener;
    // Two sockets cannot listen on one port of addresses that overlap.
    await listener?.close();
    return await Listener.open({ source: this.#context.name, port, host }, owner);
  }

  async #close(signal: AbortSignal): Promise<void> {
    this.#endFollowing();
    if (this.#listener === undefined) return;
    await this.#listener.close(signal);
    this.#context.log.info({}, "stopped listening");
  }
}
