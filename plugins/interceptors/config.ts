import type { ConfigOf, Schema } from "deneb/sdk";

const preserveExisting = (preserved: boolean) =>
  ({ doc: "true keeps a value that is already there.", format: "flag", default: preserved }) as const;

export const hostSchema = {
  hostHeader: { doc: "Header that gets the address or name. Kept in lower case.", format: "text", default: "host" },
  useIP: {
    doc: "true writes the address of this machine, false its name. Of several addresses the first that others can reach, IPv4 before IPv6.",
    format: "flag",
    default: true,
  },
  preserveExisting: preserveExisting(false),
} as const satisfies Schema;

export const staticSchema = {
  key: { doc: "Header that gets the value. Kept in lower case.", format: "text", default: "key" },
  value: { doc: "What is written.", format: "text", default: "value" },
  preserveExisting: preserveExisting(true),
} as const satisfies Schema;

export const regexFilterSchema = {
  regex: {
    doc: "Expression of RE2, looked for anywhere in the text of the entity (see the page of the plugin).",
    format: "text",
    default: ".*",
  },
  excludeEvents: {
    doc: "true drops the events in which it is found, false those in which it is not.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

export const regexExtractorSchema = {
  regex: {
    doc: "Expression of RE2 with groups, looked for anywhere in the text of the entity (see the page of the plugin).",
    format: "text",
  },
  serializers: {
    doc: "Names, separated by blanks or commas: the first one is for the first group of the expression, the second one for the second group, ...",
    format: "words",
  },
  "serializers.*": {
    doc: "`serializers.<name>.name = <header>`: the header that gets the text of the group, kept in lower case. `serializers.<name>.type = millis` with `serializers.<name>.pattern` makes milliseconds since 1970 of a time; `default` writes the text unchanged.",
    format: "map",
    default: {},
  },
} as const satisfies Schema;

export const removeHeaderSchema = {
  withName: { doc: "A header to remove, in any letter case.", format: "text", default: "" },
  fromList: { doc: "Headers to remove, in any letter case.", format: "text", default: "" },
  fromListSeparator: {
    doc: "Expression of RE2 that stands between the names of `fromList`.",
    format: "text",
    default: "\\s*,\\s*",
  },
  matching: {
    doc: "Expression of RE2: a header whose whole name matches is removed. Names of headers are lower case.",
    format: "text",
    default: "",
  },
} as const satisfies Schema;

export const searchReplaceSchema = {
  searchPattern: { doc: "Expression of RE2, looked for anywhere in the text of each value.", format: "text" },
  replaceString: {
    doc: "What stands there instead: `$1` and `${name}` are groups, `\\$` is a dollar (in the file each backslash is written twice).",
    format: "text",
    default: "",
  },
  charset: {
    doc: "Accepted because existing files have it: the text of values is Unicode.",
    format: ["UTF-8", "utf-8", "UTF8", "utf8"],
    default: "UTF-8",
  },
} as const satisfies Schema;

export type HostConfig = ConfigOf<typeof hostSchema>;
export type StaticConfig = ConfigOf<typeof staticSchema>;
export type RegexFilterConfig = ConfigOf<typeof regexFilterSchema>;
export type RegexExtractorConfig = ConfigOf<typeof regexExtractorSchema>;
export type RemoveHeaderConfig = ConfigOf<typeof removeHeaderSchema>;
export type SearchReplaceConfig = ConfigOf<typeof searchReplaceSchema>;
