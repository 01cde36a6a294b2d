import type { NetworkInterfaceInfo } from "node:os";
import type { Event, Interceptor } from "deneb/sdk";
import type { HostConfig } from "./config.js";
import { withHeader } from "./with-header.js";

/** What the machine says of itself; `node:os` is one. */
export interface Machine {
  hostname(): string;
  networkInterfaces(): NodeJS.Dict<NetworkInterfaceInfo[]>;
}

/** Writes the address or the name of this machine into a header; it is looked up once, at start. */
export class HostInterceptor implements Interceptor {
  readonly #config: HostConfig;
  readonly #machine: Machine;
  #host = "";

  constructor(config: HostConfig, machine: Machine) {
    this.#config = config;
    this.#machine = machine;
  }

  async start(): Promise<void> {
    this.#host = this.#config.useIP ? addressOf(this.#machine) : this.#machine.hostname();
  }

  async stop(): Promise<void> {}

  intercept(event: Event): Event {
    const { hostHeader, preserveExisting } = this.#config;
    return withHeader(event, { name: hostHeader.toLowerCase(), text: this.#host, preserve: preserveExisting });
  }
}

function addressOf(machine: Machine): string {
  const all = Object.values(machine.networkInterfaces()).flatMap((addresses = []) => addresses);
  const reachable = all.filter(({ internal }) => !internal);
  const chosen = reachable.find(({ family }) => family === "IPv4") ?? reachable[0] ?? all[0];
  return chosen?.address ?? "127.0.0.1";
}
