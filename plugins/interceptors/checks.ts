import { TextPattern } from "deneb/ngsi";
import { type PropertyFault, reasonOf } from "deneb/sdk";
import type {
  HostConfig,
  hostSchema,
  RegexExtractorConfig,
  RegexFilterConfig,
  RemoveHeaderConfig,
  regexExtractorSchema,
  regexFilterSchema,
  removeHeaderSchema,
  SearchReplaceConfig,
  StaticConfig,
  searchReplaceSchema,
  staticSchema,
} from "./config.js";
import { serializerType, serializerTypes, TimePattern } from "./serializers.js";

const noHeader = "must be the name of a header";

export function checkHost({ hostHeader }: HostConfig): readonly PropertyFault<typeof hostSchema>[] {
  return hostHeader === "" ? [{ property: "hostHeader", reason: noHeader }] : [];
}

export function checkStatic({ key }: StaticConfig): readonly PropertyFault<typeof staticSchema>[] {
  return key === "" ? [{ property: "key", reason: noHeader }] : [];
}

export function checkRegexFilter({ regex }: RegexFilterConfig): readonly PropertyFault<typeof regexFilterSchema>[] {
  return patternFaults(regex).map((reason) => ({ property: "regex", reason }));
}

export function checkRegexExtractor(
  config: RegexExtractorConfig,
): readonly PropertyFault<typeof regexExtractorSchema>[] {
  const { regex, serializers, "serializers.*": settings } = config;
  const broken = patternFaults(regex).map((reason) => ({ property: "regex", reason }) as const);
  const groups = broken.length > 0 ? serializers.length : new TextPattern(regex).groupCount;
  return [
    ...broken,
    ...(serializers.length === 0 ? [{ property: "serializers", reason: "must name at least one" } as const] : []),
    ...(serializers.length > groups
      ? [
          {
            property: "serializers",
            reason: `are ${serializers.length}, but the expression has ${groups} groups`,
          } as const,
        ]
      : []),
    ...serializers
      .filter((name) => (settings[`${name}.name`] ?? "") === "")
      .map((name) => ({
        property: `serializers.${name}.name` as const,
        reason: `must be given: the name of a header`,
      })),
    ...serializers
      .filter((name) => serializerType(settings[`${name}.type`] ?? "default") === "millis")
      .filter((name) => settings[`${name}.pattern`] === undefined)
      .map((name) => ({
        property: `serializers.${name}.pattern` as const,
        reason: `must be given for the type millis, for example yyyy-MM-dd'T'HH:mm:ss.SSSZ`,
      })),
    ...Object.entries(settings).flatMap(([entry, value]) => entryFaults(entry, value, serializers)),
  ];
}

function entryFaults(entry: string, value: string, serializers: readonly string[]) {
  const property = `serializers.${entry}` as const;
  const [, name = "", setting = ""] = /^(.*)\.([^.]*)$/.exec(entry) ?? [];
  if (!serializers.includes(name)) {
    return [{ property, reason: `is of no serializer in the list; it has: ${serializers.join(", ")}` }];
  }
  if (setting === "type") {
    const known = Object.keys(serializerTypes).join(", ");
    return serializerType(value) !== undefined ? [] : [{ property, reason: `is "${value}"; known are ${known}` }];
  }
  if (setting === "pattern") {
    return faultsOf(() => new TimePattern(value)).map((reason) => ({ property, reason }));
  }
  return setting === "name"
    ? []
    : [{ property, reason: "is not known; a serializer has a name, a type and, for millis, a pattern" }];
}

export function checkRemoveHeader(config: RemoveHeaderConfig): readonly PropertyFault<typeof removeHeaderSchema>[] {
  const { withName, fromList, fromListSeparator, matching } = config;
  const nothing = withName === "" && fromList === "" && matching === "";
  return [
    ...(nothing
      ? [{ property: "withName", reason: "or fromList or matching must be given: which headers to remove" } as const]
      : []),
    ...(fromListSeparator === "" ? [{ property: "fromListSeparator", reason: "must not be empty" } as const] : []),
    ...patternFaults(fromListSeparator).map((reason) => ({ property: "fromListSeparator", reason }) as const),
    ...patternFaults(matching).map((reason) => ({ property: "matching", reason }) as const),
  ];
}

export function checkSearchReplace({
  searchPattern,
  replaceString,
}: SearchReplaceConfig): readonly PropertyFault<typeof searchReplaceSchema>[] {
  const broken = patternFaults(searchPattern);
  if (broken.length > 0) return broken.map((reason) => ({ property: "searchPattern", reason }));
  return faultsOf(() => new TextPattern(searchPattern).replacer(replaceString)).map((reason) => ({
    property: "replaceString",
    reason,
  }));
}

function patternFaults(text: string): readonly string[] {
  return faultsOf(() => new TextPattern(text));
}

function faultsOf(make: () => unknown): readonly string[] {
  try {
    make();
    return [];
  } catch (error) {
    return [`cannot be used: ${reasonOf(error)}`];
  }
}
