/** One parsed line of the log. */
export interface LogRecord {
  readonly time: Date;
  readonly level: string;
  /** The agent that wrote it; absent in lines that name none. */
  readonly agent?: string;
  readonly logger: string;
  readonly message: string;
  /** The values of `%X{name}`: `corr`, `trans`, `srv`, `subsrv` and all other fields. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/** Parses a JSON line as pino writes it. */
export function readLogLine(line: string): LogRecord {
  const { level, time, agent, component, msg, ...fields }: Readonly<Record<string, unknown>> = JSON.parse(line);
  const writer = boundTo("agent", line);
  return {
    time: new Date(String(time)),
    level: String(level).toUpperCase(),
    ...(writer === undefined ? {} : { agent: writer }),
    logger: boundTo("component", line) ?? String(component),
    message: typeof msg === "string" ? msg : "",
    fields: new Map(Object.entries(writer === undefined && agent !== undefined ? { agent, ...fields } : fields)),
  };
}

const bound = {
  agent: /"agent":("(?:[^"\\]|\\.)*")/,
  component: /"component":("(?:[^"\\]|\\.)*")/,
};

/** The name bound to the logger is the first one of the line; an entry can have a field of that name too. */
function boundTo(field: keyof typeof bound, line: string): string | undefined {
  const name = bound[field].exec(line)?.[1];
  return name === undefined ? undefined : JSON.parse(name);
}

/** The message, followed by the fields that are not context fields, as `name=value`. */
export function messageOf({ message, fields }: LogRecord): string {
  const own = [...fields].filter(([name]) => !contextNames.has(name));
  return [onOneLine(message), ...own.map(([name, value]) => `${onOneLine(name)}=${shown(value)}`)].join(" ");
}

/** The value of `%X{name}`: `N/A` for an absent field. */
export function contextOf({ fields, agent, logger }: LogRecord, name = ""): string {
  if (name === "") return `{${[...contextNames].map((known) => `${known}=${shown(fields.get(known))}`).join(", ")}}`;
  if (name === "agent") return onOneLine(agent ?? logger);
  if (name === "comp") return onOneLine(logger);
  return shown(fields.get(otherNames.get(name) ?? name));
}

/** Correlator, transaction id, service and service path of the notification that an entry is about. */
const contextNames: ReadonlySet<string> = new Set(["corr", "trans", "srv", "subsrv"]);

/** The names that existing patterns use. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["correlatorId", "corr"],
  ["transactionId", "trans"],
  ["service", "srv"],
  ["subservice", "subsrv"],
]);

function shown(value: unknown): string {
  if (value === undefined) return "N/A";
  return onOneLine(typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * Characters that change what a terminal or a viewer of logs shows: the control characters of ASCII and beyond (C1), the
 * line separators, and those that change the direction of text.
 */
const unseen = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const unseenButLayout = /[^\P{Cc}\n\t]|[\p{Bidi_Control}\u2028\u2029]/gu;

/** The text with such characters escaped, line ends included: a value cannot start a line of its own. */
export function onOneLine(text: string): string {
  return text.replace(unseen, escaped);
}

/** The same for text of several lines: line feeds and tabs are kept. JSON text keeps its value. */
export function printable(text: string): string {
  return text.replace(unseenButLayout, escaped);
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return escapes.get(character) ?? `\\u${code.toString(16).padStart(4, "0")}`;
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
]);
