import { type ConfigurationFault, errorAt, type Location, nearest, warningAt } from "../configuration-fault.js";
import type { DeclaredComponents } from "./declared-components.js";

/** The channels that a sink or source names; undefined when they could not be read. */
export interface ChannelLink {
  readonly location: Location;
  readonly channels: readonly string[] | undefined;
}

/** A fault for each name that is no channel or is given twice. A file without channels is reported elsewhere. */
export function linkFaults(
  { location, channels }: ChannelLink,
  declared: readonly string[],
): readonly ConfigurationFault[] {
  if (channels === undefined || declared.length === 0) return [];
  if (channels.length === 0) return [errorAt(location, "must name at least one channel")];
  const known = `the channels are: ${declared.join(", ")}`;
  const unknown = [...new Set(channels)]
    .filter((name) => !declared.includes(name))
    .map((value) => errorAt({ ...location, value, nearest: nearest(value, declared) }, `names no channel; ${known}`));
  const twice = [...new Set(channels)]
    .filter((name) => channels.indexOf(name) !== channels.lastIndexOf(name))
    .map((value) => errorAt({ ...location, value }, "is named twice; name each channel once"));
  return [...unknown, ...twice];
}

/** A warning for each channel without a source or a sink; none while a link itself has a fault. */
export function idleChannels(
  declared: DeclaredComponents,
  links: { readonly written: readonly ChannelLink[]; readonly read: readonly ChannelLink[] },
): readonly ConfigurationFault[] {
  return declared.blocks.flatMap(({ name, key, line }) => [
    ...(isNamed(name, links.written, declared) ? [] : [warningAt({ key, line }, "is written by no source")]),
    ...(isNamed(name, links.read, declared)
      ? []
      : [warningAt({ key, line }, "is read by no sink: it fills up and stays full")]),
  ]);
}

function isNamed(channel: string, links: readonly ChannelLink[], { names }: DeclaredComponents): boolean {
  const faulty = links.some(({ channels }) => channels === undefined || channels.some((name) => !names.includes(name)));
  return faulty || links.some(({ channels = [] }) => channels.includes(channel));
}
