import type { Resource } from "./resources.js";

/** A port of this machine, on one address or on all. */
export interface Listener {
  readonly host: string;
  readonly port: number;
}

const everyAddress: ReadonlySet<string> = new Set(["", "0.0.0.0", "::", "[::]"]);

/** The ports that components listen on; a port that the system chooses collides with none. */
export function listenersOf(resources: readonly Resource[]): readonly (Listener & { readonly resource: Resource })[] {
  return resources.flatMap((resource) => {
    const { kind, value, host = "" } = resource;
    return kind === "port" && typeof value === "number" && value > 0 ? [{ host, port: value, resource }] : [];
  });
}

/** Whether one could not listen where the other does, or sends to where the other listens. */
export function collide(one: Listener, other: Listener): boolean {
  if (one.port !== other.port) return false;
  const hosts = [one.host, other.host].map((host) => host.toLowerCase());
  if (hosts.some((host) => everyAddress.has(host))) return true;
  return new Set(hosts.map((host) => (isLoopback(host) ? "localhost" : host))).size === 1;
}

/** Whether the host is this machine, by a name that every machine has. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    /^127(\.\d{1,3}){3}$/.test(name) || ["localhost", "::1", "[::1]"].includes(name) || name.endsWith(".localhost")
  );
}

export function listensEverywhere({ host }: Listener): boolean {
  return everyAddress.has(host);
}
