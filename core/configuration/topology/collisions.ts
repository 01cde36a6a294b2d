import path from "node:path";
import { type ConfigurationFault, errorAt, warningAt } from "../configuration-fault.js";
import { sourceProperties } from "../schema/component-properties.js";
import type { ComponentNode } from "../topology.js";
import type { Resource } from "./component.js";
import type { SinkReading } from "./read-sink.js";
import type { SinkGroupReading } from "./read-sink-group.js";
import type { SourceReading } from "./read-source.js";

/** A port of this machine, on one address or on all. */
interface Listener {
  readonly host: string;
  readonly port: number;
}

const everyAddress: ReadonlySet<string> = new Set(["", "0.0.0.0", "::", "[::]"]);

/** The ports that components listen on; a port that the system chooses collides with none. */
function listenersOf(resources: readonly Resource[]): readonly (Listener & { readonly resource: Resource })[] {
  return resources.flatMap((resource) => {
    const { kind, value, host = "" } = resource;
    return kind === "port" && typeof value === "number" && value > 0 ? [{ host, port: value, resource }] : [];
  });
}

/** Whether one could not listen where the other does, or sends to where the other listens. */
function collide(one: Listener, other: Listener): boolean {
  if (one.port !== other.port) return false;
  const hosts = [one.host, other.host].map((host) => host.toLowerCase());
  if (hosts.some((host) => everyAddress.has(host))) return true;
  return new Set(hosts.map((host) => (isLoopback(host) ? "localhost" : host))).size === 1;
}

/** Whether the host is this machine, by a name that every machine has. */
function isLoopback(host: string): boolean {
  const name = host.toLowerCase();
  return (
    /^127(\.\d{1,3}){3}$/.test(name) || ["localhost", "::1", "[::1]"].includes(name) || name.endsWith(".localhost")
  );
}

function listensEverywhere({ host }: Listener): boolean {
  return everyAddress.has(host);
}

/** A fault for each port that another component, or the management interface, also listens on. */
export function portFaults(
  resources: readonly Resource[],
  management: Listener | undefined,
): readonly ConfigurationFault[] {
  const listeners = listenersOf(resources);
  return listeners.flatMap((listener, at) => {
    const { location } = listener.resource;
    const other = listeners.slice(0, at).find((one) => collide(one, listener));
    if (other !== undefined) {
      return [errorAt(location, `is the port of "${other.resource.owner}" too; give each a port of its own`)];
    }
    if (management === undefined || management.port === 0 || !collide(management, listener)) return [];
    const remedy = "choose another, here or with --management-port";
    return [errorAt(location, `is the port of the management interface too; ${remedy}`)];
  });
}

/** A fault for each component that is the same client of the same server as one before. */
export function clientFaults(resources: readonly Resource[]): readonly ConfigurationFault[] {
  const names = resources.filter(({ kind }) => kind === "client");
  const clients = [...new Set(names.map(({ owner }) => owner))].map((one) =>
    names.filter(({ owner }) => owner === one),
  );
  const known = new Map<string, Resource>();
  return clients.flatMap((parts) => {
    const name = parts.at(-1);
    if (name === undefined || parts.some(({ value }) => value === "")) return [];
    const client = JSON.stringify(parts.map(({ value }) => value));
    const other = known.get(client);
    known.set(client, other ?? name);
    if (other === undefined) return [];
    const reason = `is ${other.location.key} at the same server too, which would end the connection of one for the other`;
    return [errorAt(name.location, `${reason}; give each a name of its own`)];
  });
}

/** A fault for each folder that another component also uses, or that overlaps one of another component. */
export function folderFaults(resources: readonly Resource[]): readonly ConfigurationFault[] {
  const used = resources.filter(({ kind }) => kind === "folder").flatMap(foldersOf);
  return used.flatMap(({ folder, resource: { owner, location } }, at) => {
    const other = used.slice(0, at).find((one) => one.resource.owner !== owner && overlap(one.folder, folder));
    if (other === undefined) return [];
    const same = other.folder === folder;
    const what = same ? `is a folder of "${other.resource.owner}" too` : `overlaps "${other.folder}"`;
    const whose = same ? "" : `, a folder of "${other.resource.owner}"`;
    return [errorAt({ ...location, value: folder }, `${what}${whose}; give each component folders of its own`)];
  });
}

function foldersOf(resource: Resource) {
  const listed: readonly unknown[] = Array.isArray(resource.value) ? resource.value : [resource.value];
  return listed.flatMap((folder) =>
    typeof folder === "string" && folder !== "" ? [{ folder: path.resolve(folder), resource }] : [],
  );
}

function overlap(one: string, other: string): boolean {
  return [path.relative(one, other), path.relative(other, one)].some(
    (way) => way === "" || (way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way)),
  );
}

/** A fault for each sink that sends to a source from which its own events come, directly or by way of other sinks. */
export function loopFaults(
  sources: readonly SourceReading[],
  sinks: readonly SinkReading[],
): readonly ConfigurationFault[] {
  const fed = (sink: SinkReading) =>
    targetsOf(sink).flatMap((target) => sources.filter((source) => receives(source, target.listener)));
  return sinks.flatMap((sink) =>
    targetsOf(sink).flatMap(({ listener, resource }) => {
      const source = sources.find((one) => receives(one, listener) && reaches(one, sink, { sinks, fed }));
      if (source === undefined) return [];
      const reason = `is source "${source.name}", from which the events of this sink come: they would circulate without end`;
      const isCertain = source.value?.selector.definition.type === sourceProperties["selector.type"].default;
      return [(isCertain ? errorAt : warningAt)(resource.location, `${reason}; send elsewhere`)];
    }),
  );
}

interface Links {
  readonly sinks: readonly SinkReading[];
  readonly fed: (sink: SinkReading) => readonly SourceReading[];
}

function reaches(from: SourceReading, wanted: SinkReading, { sinks, fed }: Links): boolean {
  const seen = new Set([from]);
  for (const source of seen) {
    const readers = sinks.filter(({ link }) => link.channels?.some((name) => source.link.channels?.includes(name)));
    if (readers.includes(wanted)) return true;
    for (const next of readers.flatMap(fed)) seen.add(next);
  }
  return false;
}

function receives({ resources }: SourceReading, target: Listener): boolean {
  return listenersOf(resources).some(
    (listener) => collide(listener, target) && (!listensEverywhere(listener) || isLoopback(target.host)),
  );
}

function targetsOf({
  resources,
}: SinkReading): readonly { readonly listener: Listener; readonly resource: Resource }[] {
  return resources.flatMap((resource) => {
    const listener =
      resource.kind === "url" && typeof resource.value === "string" ? listenerOf(resource.value) : undefined;
    return listener === undefined ? [] : [{ listener, resource }];
  });
}

const defaultPorts: ReadonlyMap<string, number> = new Map([
  ["http:", 80],
  ["https:", 443],
]);

function listenerOf(text: string): Listener | undefined {
  if (!URL.canParse(text)) return undefined;
  const { hostname: written, port, protocol } = new URL(text);
  const hostname = written.replaceAll(/^\[|\]$/g, "");
  const number = port === "" ? defaultPorts.get(protocol) : Number(port);
  // As an address to send to, this one means the machine itself.
  const host = hostname === "0.0.0.0" || hostname === "::" ? "localhost" : hostname;
  return number === undefined ? undefined : { host, port: number };
}

/** A fault for each sink that shares its channel with another one outside a group: an error where the channel has one taker. */
export function sharedChannels(
  sinks: readonly SinkReading[],
  groups: readonly SinkGroupReading[],
  channels: readonly ComponentNode[],
): readonly ConfigurationFault[] {
  // Which sinks belong together is unknown while a group has a fault.
  if (groups.some(({ value }) => value === undefined)) return [];
  const groupOf = ({ name }: SinkReading) => groups.find((group) => group.sinks?.includes(name));
  return sinks.flatMap((sink, at) => {
    const [channel] = sink.link.channels ?? [];
    const other = sinks.slice(0, at).find((one) => channel !== undefined && one.link.channels?.[0] === channel);
    if (other === undefined || (groupOf(sink) !== undefined && groupOf(sink) === groupOf(other))) return [];
    const definition = channels.find(({ name }) => name === channel)?.definition;
    if (definition?.takers === "one") {
      const fact = `is read by sink "${other.name}" too, and a channel of type ${definition.type} has one position`;
      const remedy = "give each further sink a channel of its own over the same log with another group";
      return [errorAt(sink.link.location, `${fact}: ${remedy}, or put both in a sink group`)];
    }
    const fact = `is read by sink "${other.name}" too: each event goes to one of them only`;
    return [warningAt(sink.link.location, `${fact}; give each a channel, or put both in a sink group`)];
  });
}
