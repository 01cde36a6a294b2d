import { isRecord } from "../sdk/event.js";
import type { Property } from "../sdk/index.js";
import type { DeclarationRules } from "../tokens.js";

/** Something wrong in a declaration: a part of a sentence behind the plugin's name, and what to do. */
export interface DeclarationFault {
  readonly fault: string;
  readonly remedy: string;
  /** True: what it is about has no effect, and the plugin can be used. */
  readonly harmless?: true;
}

/** What a declaration may hold. */
interface KnownNames {
  /** Members of a definition. */
  readonly members: readonly string[];
  readonly formats: readonly string[];
  isFormat(value: unknown): boolean;
}

/** All faults of a declaration besides those of its members: unknown members, and its properties one after the other. */
export function declarationFaults(
  definition: Readonly<Record<string, unknown>>,
  known: KnownNames,
  rules: DeclarationRules | undefined,
): readonly DeclarationFault[] {
  const { config } = definition;
  const properties = isRecord(config) ? Object.entries(config) : [];
  return [
    ...unknownMembers(definition, { describe: (name) => `member "${name}" is not known`, known: known.members }, rules),
    ...properties.flatMap(([name, property]) => [
      ...nameFaults(name, definition, rules),
      ...propertyFaults(name, property, known, rules),
    ]),
  ];
}

interface Place {
  describe(member: string): string;
  readonly known: readonly string[];
}

/** A newer version may know more members: one that resembles none of these does not make the plugin unusable. */
function unknownMembers(
  value: Readonly<Record<string, unknown>>,
  { describe, known }: Place,
  rules: DeclarationRules | undefined,
): readonly DeclarationFault[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const fault = describe(name);
      const meant = rules?.nearest(name, known);
      if (meant !== undefined) return { fault, remedy: `did you mean "${meant}"?` };
      return { fault, remedy: `remove it, it has no effect; known are ${known.join(", ")}`, harmless: true };
    });
}

/** Such a property would always be at its default: its line in a file is read by another. */
function nameFaults(
  name: string,
  { kind, slots }: Readonly<Record<string, unknown>>,
  rules: DeclarationRules | undefined,
): readonly DeclarationFault[] {
  if (!NAME.test(name)) {
    const fault = `property "${name}" has a name that a properties file cannot hold`;
    return [{ fault, remedy: "use letters, digits, dots, underscores and hyphens" }];
  }
  const slot = Object.keys(isRecord(slots) ? slots : {}).find((one) => isAtOrBelow(name, one));
  if (slot !== undefined) {
    return [{ fault: `property "${name}" has the name of its slot "${slot}"`, remedy: "rename one of the two" }];
  }
  const kernels = rules?.reserved.get(String(kind)) ?? [];
  const taken = kernels.find((one) => (BRANCHES.has(one) ? isAtOrBelow(name, one) : name === one));
  if (taken === undefined) return [];
  const fault = `property "${name}" has the name of a setting that the agent itself reads of every ${String(kind)}`;
  return [{ fault, remedy: `rename it; reserved are ${kernels.join(", ")}` }];
}

const NAME = /^[\w.*-]+$/;
/** Names of the kernel below which everything is its own. */
const BRANCHES: ReadonlySet<string> = new Set(["interceptors", "selector"]);

function isAtOrBelow(name: string, top: string): boolean {
  return name === top || name.startsWith(`${top}.`);
}

type Known = Pick<KnownNames, "formats" | "isFormat">;

function propertyFaults(
  name: string,
  property: unknown,
  known: Known,
  rules: DeclarationRules | undefined,
): readonly DeclarationFault[] {
  const who = `property "${name}"`;
  if (!isRecord(property)) {
    const example = `${name}: { doc: "What it is.", format: "text", default: "" }`;
    return [{ fault: `${who} is not an object`, remedy: `declare it as ${example}` }];
  }
  const { doc, format } = property;
  const members = unknownMembers(
    property,
    { describe: (member) => `${who} has a member that is not known: "${member}"`, known: memberNames },
    rules,
  );
  const undocumented =
    typeof doc === "string" && doc.trim() !== ""
      ? []
      : [{ fault: `${who} has no doc sentence`, remedy: "say in doc what it means, with its unit" }];
  const wrong = Object.entries<MemberRule>(memberRules)
    .filter(([member, { holds }]) => property[member] !== undefined && !holds(property[member]))
    .map(([member, { noun }]) => ({
      fault: `${who} has the ${member} ${shown(property[member])}`,
      remedy: `give ${noun}`,
    }));
  const common = [...members, ...undocumented, ...wrong, ...limitFaults(who, property)];
  if (!known.isFormat(format)) return [...common, unknownFormat(who, format, known, rules)];
  const fields = isRecord(format) && isRecord(format.fields) ? Object.entries(format.fields) : [];
  return [
    ...common,
    ...fields.flatMap(([field, value]) => propertyFaults(`${name}.${field}`, value, known, rules)),
    // Where a limit is wrong a default cannot be right.
    ...(common.length > 0 ? [] : defaultFaults(who, property, rules)),
  ];
}

const propertyMembers = {
  doc: true,
  format: true,
  default: true,
  min: true,
  max: true,
  maxLength: true,
  env: true,
  envFile: true,
  sensitive: true,
  resource: true,
  deprecated: true,
} satisfies Record<keyof Required<Property>, true>;
const memberNames = Object.keys(propertyMembers);

interface MemberRule {
  holds(value: unknown): boolean;
  readonly noun: string;
}

const number = { holds: Number.isFinite, noun: "a number" };
const variable = {
  holds: (value: unknown) => typeof value === "string" && /^[A-Za-z_]\w*$/.test(value),
  noun: "the name of an environment variable: letters, digits and underscores",
};
const resources: readonly unknown[] = ["port", "host", "folder", "url", "client"] satisfies Property["resource"][];

const memberRules = {
  min: number,
  max: number,
  maxLength: { holds: (value) => Number.isInteger(value) && Number(value) >= 0, noun: "a whole number, 0 or more" },
  env: variable,
  envFile: variable,
  sensitive: { holds: (value) => value === true, noun: "true, or leave it out" },
  resource: { holds: (value) => resources.includes(value), noun: `one of ${resources.join(", ")}` },
  deprecated: { holds: (value) => typeof value === "string", noun: "a text that says what to use instead" },
} satisfies Partial<Record<keyof Property, MemberRule>>;

function unknownFormat(
  who: string,
  format: unknown,
  { formats }: Known,
  rules: DeclarationRules | undefined,
): DeclarationFault {
  const meant = typeof format === "string" ? rules?.nearest(format, formats) : undefined;
  const question = meant === undefined ? "" : `did you mean "${meant}"? `;
  const remedy = `${question}give one of ${formats.join(", ")}, or a list of the allowed texts`;
  return { fault: `${who} has an unknown format ${shown(format)}`, remedy };
}

function limitFaults(who: string, { min, max }: Readonly<Record<string, unknown>>): readonly DeclarationFault[] {
  if (typeof min !== "number" || typeof max !== "number" || min <= max) return [];
  return [{ fault: `${who} has the min ${min}, more than its max ${max}`, remedy: "exchange or correct them" }];
}

/** Here the members were found to be those of a property. */
function isProperty(value: Readonly<Record<string, unknown>>): value is Readonly<Record<string, unknown>> & Property {
  return value.format !== undefined;
}

function defaultFaults(
  who: string,
  property: Readonly<Record<string, unknown>>,
  rules: DeclarationRules | undefined,
): readonly DeclarationFault[] {
  if (property.default === undefined || !isProperty(property)) return [];
  const reason = rules?.defaultFault(property);
  if (reason === undefined) return [];
  const value = property.sensitive === true ? "" : ` ${shown(property.default)}`;
  return [
    {
      fault: `${who} has the default${value}, which ${reason}`,
      remedy: "correct the default, its format or its limits",
    },
  ];
}

const LONGEST = 60;

/** A value for a message, whatever somebody wrote. */
export function shown(value: unknown): string {
  if (typeof value === "function" || typeof value === "symbol") return `(a ${typeof value})`;
  try {
    const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value));
    return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
  } catch {
    return "(an object that contains itself)";
  }
}
