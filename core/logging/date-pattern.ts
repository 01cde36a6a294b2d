/** Writes a time in UTC by a pattern of Java's SimpleDateFormat, or a name that log4j knows: ISO8601, ABSOLUTE, DATE. */
export function datePattern(pattern: string): (time: Date) => string {
  const parts = [...(named.get(pattern) ?? pattern).matchAll(TOKENS)].map(partOf);
  return (time) => parts.map((part) => part(time)).join("");
}

const ISO8601 = "yyyy-MM-dd'T'HH:mm:ss,SSS";

const named: ReadonlyMap<string, string> = new Map([
  ["", ISO8601],
  ["ISO8601", ISO8601],
  ["ABSOLUTE", "HH:mm:ss,SSS"],
  ["DATE", "dd MMM yyyy HH:mm:ss,SSS"],
]);

// Quoted text (two quotes are one), a run of one letter, or another character.
const TOKENS = /''|'(?<quoted>(?:[^']|'')*)'|(?<run>(?<letter>[A-Za-z])\k<letter>*)|[\s\S]/g;

type Part = (time: Date) => string;

function partOf({ 0: token, groups = {} }: RegExpExecArray): Part {
  const { quoted, run, letter = "" } = groups;
  if (token === "''") return () => "'";
  if (quoted !== undefined) return () => quoted.replaceAll("''", "'");
  const field = fields.get(letter);
  return run === undefined || field === undefined ? () => token : (time) => field(time, run.length);
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

type Field = (time: Date, width: number) => string;

const fields: ReadonlyMap<string, Field> = new Map<string, Field>([
  ["y", (time, width) => (width === 2 ? padded(time.getUTCFullYear() % 100, 2) : padded(time.getUTCFullYear(), width))],
  ["M", (time, width) => (width > 2 ? (months[time.getUTCMonth()] ?? "") : padded(time.getUTCMonth() + 1, width))],
  ["d", (time, width) => padded(time.getUTCDate(), width)],
  ["E", (time) => days[time.getUTCDay()] ?? ""],
  ["H", (time, width) => padded(time.getUTCHours(), width)],
  ["h", (time, width) => padded(time.getUTCHours() % 12 || 12, width)],
  ["a", (time) => (time.getUTCHours() < 12 ? "AM" : "PM")],
  ["m", (time, width) => padded(time.getUTCMinutes(), width)],
  ["s", (time, width) => padded(time.getUTCSeconds(), width)],
  ["S", (time, width) => padded(time.getUTCMilliseconds(), width)],
  ["z", () => "UTC"],
  ["Z", () => "+0000"],
  ["X", () => "Z"],
]);

function padded(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
