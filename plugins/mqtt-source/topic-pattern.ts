/** What a topic tells of whose notification it carries; undefined where it does not say. */
export interface Origin {
  readonly service: string | undefined;
  readonly servicePath: string | undefined;
}

/** Reads topics by a pattern such as `/+service/+path/attrs`; a topic that does not fit tells nothing. */
export function originOf(topic: string, pattern: string): Origin {
  const wanted = pattern.split("/");
  const levels = topic.split("/");
  const open = wanted.at(-1)?.startsWith("#") ?? false;
  const fixed = open ? wanted.slice(0, -1) : wanted;
  if (open ? levels.length < fixed.length : levels.length !== fixed.length) return untold;
  if (!fixed.every((part, index) => part.startsWith("+") || part === levels[index])) return untold;
  const path = [
    ...levels.filter((_, index) => fixed[index] === "+path"),
    ...(wanted.at(-1) === "#path" ? levels.slice(fixed.length) : []),
  ].filter((level) => level !== "");
  const service = levels.find((level, index) => fixed[index] === "+service" && level !== "");
  return { service, servicePath: path.length === 0 ? undefined : `/${path.join("/")}` };
}

const untold: Origin = { service: undefined, servicePath: undefined };

/** Why a text is no topic pattern; undefined when it is one. */
export function topicPatternFault(pattern: string): string | undefined {
  const levels = pattern.split("/");
  const odd = levels.find((level, index) => !isLevel(level, index === levels.length - 1));
  if (odd !== undefined)
    return `"${odd}" is no level of a pattern: +service, +path, +, a last #path or #, or plain text`;
  if (levels.filter((level) => level === "+service").length > 1) return "+service must be there only once";
  return levels.some((level) => named.has(level)) ? undefined : "must hold +service, +path or #path";
}

const named: ReadonlySet<string> = new Set(["+service", "+path", "#path"]);

function isLevel(level: string, isLast: boolean): boolean {
  if (level === "#" || level === "#path") return isLast;
  return level === "+" || named.has(level) || !/[+#]/.test(level);
}
