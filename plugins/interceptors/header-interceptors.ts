import type { NetworkInterfaceInfo } from "node:os";
import { TextPattern } from "deneb/ngsi";
import type { Event, Interceptor } from "deneb/sdk";
import type { HostConfig, RemoveHeaderConfig, StaticConfig } from "./config.js";

/** Writes a fixed text into a header. */
export function createStaticInterceptor({ key, value, preserveExisting }: StaticConfig): Interceptor {
  const header = { name: key.toLowerCase(), text: value, preserve: preserveExisting };
  return { intercept: (event) => withHeader(event, header) };
}

/** Host name and addresses of a machine; `node:os` is one. */
interface Machine {
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

/** Removes headers by name, from a list, or by an expression. */
export class RemoveHeaderInterceptor implements Interceptor {
  readonly #names: ReadonlySet<string>;
  readonly #matching: TextPattern | undefined;

  constructor({ withName, fromList, fromListSeparator, matching }: RemoveHeaderConfig) {
    const listed = new TextPattern(fromListSeparator).split(fromList.trim());
    this.#names = new Set([withName, ...listed].map((name) => name.trim().toLowerCase()));
    this.#matching = matching === "" ? undefined : new TextPattern(matching);
  }

  intercept(event: Event): Event {
    const entries = Object.entries(event.headers);
    const kept = entries.filter(([name]) => !this.#names.has(name) && this.#matching?.isAll(name) !== true);
    return kept.length === entries.length ? event : { ...event, headers: Object.fromEntries(kept) };
  }
}

interface HeaderText {
  /** In lower case. */
  readonly name: string;
  readonly text: string;
  /** Keep an existing text. */
  readonly preserve: boolean;
}

/** The event with one header more, or another text in it. */
function withHeader(event: Event, { name, text, preserve }: HeaderText): Event {
  if (preserve && Object.hasOwn(event.headers, name)) return event;
  return { ...event, headers: { ...event.headers, [name]: text } };
}
