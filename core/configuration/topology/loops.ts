import { type ConfigurationFault, errorAt, warningAt } from "../configuration-fault.js";
import { sourceProperties } from "../schema/component-properties.js";
import { collide, isLoopback, type Listener, listenersOf, listensEverywhere } from "./collisions.js";
import type { Resource } from "./component.js";
import type { SinkReading } from "./read-sink.js";
import type { SourceReading } from "./read-source.js";

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
