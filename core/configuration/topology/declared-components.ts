import {
  type ConfigurationFault,
  type EnvironmentVariables,
  errorAt,
  type Location,
  nearest,
  startable,
  unreadAt,
  warningAt,
} from "../configuration-fault.js";
import { type ComponentBlock, firstLine, type Section, type Settings } from "../file/settings.js";
import { fromSetting } from "../schema/given-values.js";
import { words } from "../schema/typed-values.js";

interface DeclaredComponents {
  /** All names of the list, also those without settings, so that a link to one is not a second fault. */
  readonly names: readonly string[];
  /** Those that can be read. */
  readonly blocks: readonly ComponentBlock[];
  readonly faults: readonly ConfigurationFault[];
}

/** Matches the names that a section lists with the lines below them. */
export function declaredComponents(section: Section, env: EnvironmentVariables): DeclaredComponents {
  const { state, faults } = fromSetting({ default: "" }, section.list, env);
  if (state === "unreadable") return { names: [], blocks: [], faults };
  const listed = state === "absent" ? [] : words(state.content);
  const names = [...new Set(listed)];
  const undeclared = [...section.components].filter(([name]) => !names.includes(name));
  const bare = names.filter((name) => !section.components.has(name));
  return {
    names,
    blocks: names.flatMap((name) => blockOf(section, name)),
    faults: [
      ...names
        .filter((name) => listed.indexOf(name) !== listed.lastIndexOf(name))
        .map((name) => repeated(section, name)),
      ...names.flatMap((name) => unusable(section, name)),
      ...bare.map((name) => withoutSettings(section, name)),
      ...undeclared.map(([name, settings]) => notListed(section, { name, settings, names })),
    ],
  };
}

/** The fault of a section that names nothing; none where its list could not be read. */
export function emptyListFaults(
  { key, list, components }: Section,
  { names, faults }: DeclaredComponents,
): readonly ConfigurationFault[] {
  if (names.length > 0 || !startable(faults)) return [];
  const example = components.size === 0 ? "" : `, for example ${key} = ${[...components.keys()].join(" ")}`;
  return [errorAt({ key, line: list?.line }, `must list the names of at least one component${example}`)];
}

function blockOf({ key, components }: Section, name: string): readonly ComponentBlock[] {
  const settings = components.get(name);
  return settings === undefined ? [] : [{ name, key: `${key}.${name}`, line: firstLine(settings), settings }];
}

/** The folder of a channel and the dead letters of a sink have their names, with characters other than ASCII as in a URL. */
const LONGEST_NAME = 240;
const HALF_CHARACTER = /\p{Surrogate}/u;

function unusable({ key, list }: Section, name: string): readonly ConfigurationFault[] {
  const at = (value: string) => ({ key, value, line: list?.line });
  if (HALF_CHARACTER.test(name))
    return [
      errorAt(
        at(name.toWellFormed()),
        "holds half of a character; correct what begins with \\u, or write the character",
      ),
    ];
  const { length } = encodeURIComponent(name);
  if (length <= LONGEST_NAME) return [];
  const reason = `is too long: files have this name, and in a URL it has ${length} characters, of ${LONGEST_NAME} at most`;
  return [errorAt(at(`${[...name].slice(0, 20).join("")}...`), `${reason}; choose a shorter one`)];
}

function repeated({ key, list }: Section, name: string): ConfigurationFault {
  return errorAt({ key, value: name, line: list?.line }, "is listed twice; name each component once");
}

function withoutSettings({ key, list, components }: Section, name: string): ConfigurationFault {
  const location = { key, value: name, line: list?.line, nearest: nearest(name, [...components.keys()]) };
  if (name.includes(".")) return errorAt(location, "is not a name: names of components hold no dots");
  const property = key.endsWith(".sinkgroups") ? "sinks" : "type";
  return errorAt(location, `is listed but has no settings; give ${key}.${name}.${property} and what it needs`);
}

interface NotListed {
  readonly name: string;
  readonly settings: Settings;
  readonly names: readonly string[];
}

function notListed({ key }: Section, { name, settings, names }: NotListed): ConfigurationFault {
  const location = { key: `${key}.${name}`, line: firstLine(settings), nearest: nearest(name, names) };
  return unreadAt(location, `is not listed in ${key}, so its settings have no effect`, "there-too");
}

/** The channels that a sink or source names; undefined when they could not be read. */
export interface ChannelLink {
  readonly location: Location;
  readonly channels: readonly string[] | undefined;
}

export function knownChannels(declared: readonly string[]): string {
  return declared.length === 0 ? "no channel is declared" : `the channels are: ${declared.join(", ")}`;
}

/** A fault for each name that is no channel or is given twice. A file without channels is reported elsewhere. */
export function linkFaults(
  { location, channels }: ChannelLink,
  declared: readonly string[],
): readonly ConfigurationFault[] {
  if (channels === undefined || declared.length === 0) return [];
  if (channels.length === 0) return [errorAt(location, "must name at least one channel")];
  const known = knownChannels(declared);
  const unknown = [...new Set(channels)]
    .filter((name) => !declared.includes(name))
    .map((value) => errorAt({ ...location, value, nearest: nearest(value, declared) }, `names no channel; ${known}`));
  const twice = [...new Set(channels)]
    .filter((name) => channels.indexOf(name) !== channels.lastIndexOf(name))
    .map((value) => errorAt({ ...location, value }, "is named twice; name each channel once"));
  return [...unknown, ...twice];
}

/** A warning for each channel without a sink, or without a source if nobody else fills it; none while a link itself has a fault. */
export function idleChannels(
  declared: DeclaredComponents,
  links: { readonly written: readonly ChannelLink[]; readonly read: readonly ChannelLink[] },
  fedByOthers: ReadonlySet<string> = new Set(),
): readonly ConfigurationFault[] {
  const isWritten = namedBy(links.written, declared);
  const isRead = namedBy(links.read, declared);
  return declared.blocks.flatMap(({ name, key, line }) => [
    ...(fedByOthers.has(name) || isWritten(name) ? [] : [warningAt({ key, line }, "is written by no source")]),
    ...(isRead(name) ? [] : [warningAt({ key, line }, "is read by no sink: it fills up and stays full")]),
  ]);
}

/** Whether a link names a channel; true of every channel while a link has a fault. */
function namedBy(links: readonly ChannelLink[], { names }: DeclaredComponents): (channel: string) => boolean {
  const declared = new Set(names);
  const named = new Set(links.flatMap(({ channels = [] }) => channels));
  const isFaulty =
    links.some(({ channels }) => channels === undefined) || [...named].some((name) => !declared.has(name));
  return (channel) => isFaulty || named.has(channel);
}
