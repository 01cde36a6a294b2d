import { frozen } from "../sdk/frozen.js";
import { AgentError, type Event } from "../sdk/index.js";

/** Names of an entity that is not the usual one. */
export interface EntityNames {
  readonly id?: string;
  readonly type?: string;
  readonly service?: string;
  /** A further attribute, with the text `x`. */
  readonly attribute?: string;
}

/** An event as the ngsi handler makes it: an entity with the attribute `mark`, by which it is found again. */
export function markedEvent(mark: string, names: EntityNames = {}): Event {
  const { id = "urn:ngsi-ld:Room:1", type = "Room", service = "conformance", attribute } = names;
  const attributes = ["mark", ...(attribute === undefined ? [] : [attribute])].map((name) => ({
    name,
    type: "Property",
    form: "normalized",
    value: { kind: "string", text: name === "mark" ? mark : "x" },
    members: [],
  }));
  return frozen({
    headers: {
      "fiware-service": service,
      "fiware-servicepath": "/",
      "fiware-correlator": "conformance",
      "transaction-id": "conformance",
      timestamp: "1700000000000",
    },
    body: { id, type, attributes },
  });
}

/** The mark of an event that a sink stored as it came; throws for anything else. @stable */
export function markOf(event: unknown): string {
  const attributes = member(member(event, "body"), "attributes");
  const list: readonly unknown[] = Array.isArray(attributes) ? attributes : [];
  const text = member(
    member(
      list.find((one) => member(one, "name") === "mark"),
      "value",
    ),
    "text",
  );
  if (typeof text === "string") return text;
  throw new AgentError("NO_MARK", `reading back ${JSON.stringify(event)}: it has no attribute "mark"`, {
    retryable: false,
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Texts that break a sink which puts them into a statement, a path or a format by hand. */
export const hostileValues: readonly HostileText[] = [
  { says: "a quote and a statement", text: `'); DROP TABLE "mark"; --` },
  { says: "a backslash and a double quote", text: `\\"\\\\'` },
  { says: "a line break, a tab and a trailing blank", text: "a\r\n\tb " },
  { says: "text beyond the basic plane", text: "𝒟eneb 🌌 ñ 漢字 é" },
  { says: "a letter with its accent beside it", text: "e\u0301 = \u00e9" },
  { says: "nothing at all", text: "" },
  { says: "text that looks like a number", text: "00012.50" },
  { says: "text that looks like JSON", text: '{"a":[1,null]}' },
  { says: "a long text", text: "0123456789".repeat(2000) },
  { says: "a format directive", text: "%s %I $1 ? ?1 :name @p1" },
];

export const hostileNames: readonly HostileText[] = [
  { says: "a quote and a statement", text: `x"; DROP SCHEMA public; --'` },
  { says: "a path", text: "../../etc/passwd" },
  { says: "a reserved word", text: "select" },
  { says: "capitals, blanks and dots", text: "A b.C" },
  { says: "text beyond ASCII", text: "naïve_漢字_🌌" },
  { says: "a long name", text: "n".repeat(120) },
  { says: "the name of a prototype", text: "__proto__" },
];

interface HostileText {
  readonly says: string;
  readonly text: string;
}
