/** One line of the log, taken apart. */
export interface LogRecord {
  readonly time: Date;
  readonly level: string;
  readonly logger: string;
  readonly message: string;
  /** What `%X{name}` shows: `corr`, `trans`, `srv`, `subsrv` and any other field. */
  readonly fields: ReadonlyMap<string, unknown>;
}

/** Takes apart a JSON line as pino writes it. */
export function readLogLine(line: string): LogRecord {
  const { level, time, component, msg, ...fields }: Readonly<Record<string, unknown>> = JSON.parse(line);
  return {
    time: new Date(String(time)),
    level: String(level).toUpperCase(),
    logger: ownerOf(line) ?? String(component),
    message: typeof msg === "string" ? msg : "",
    fields: new Map(Object.entries(fields)),
  };
}

/** The name bound to the logger is the first `component` of the line; an entry may have a field of that name too. */
function ownerOf(line: string): string | undefined {
  const name = /"component":("(?:[^"\\]|\\.)*")/.exec(line)?.[1];
  return name === undefined ? undefined : JSON.parse(name);
}
