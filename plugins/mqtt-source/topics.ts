/** Service and service path named by a topic; undefined where it does not name them. */
export interface Origin {
  readonly service: string | undefined;
  readonly servicePath: string | undefined;
}

/** Reads topics by a pattern such as `/+service/+path/attrs`; a topic that does not match names nothing. */
export function originOf(topic: string, pattern: string): Origin {
  const wanted = pattern.split("/");
  const levels = topic.split("/");
  const open = wanted.at(-1)?.startsWith("#") ?? false;
  const fixed = open ? wanted.slice(0, -1) : wanted;
  if (open ? levels.length < fixed.length : levels.length !== fixed.length) return unnamed;
  if (!fixed.every((part, index) => part.startsWith("+") || part === levels[index])) return unnamed;
  const path = [
    ...levels.filter((_, index) => fixed[index] === "+path"),
    ...(wanted.at(-1) === "#path" ? levels.slice(fixed.length) : []),
  ].filter((level) => level !== "");
  const service = levels.find((level, index) => fixed[index] === "+service" && level !== "");
  return { service, servicePath: path.length === 0 ? undefined : `/${path.join("/")}` };
}

const unnamed: Origin = { service: undefined, servicePath: undefined };

/** Why a text is not a topic pattern; undefined when it is one. */
export function topicPatternFault(pattern: string): string | undefined {
  const levels = pattern.split("/");
  const odd = levels.find((level, index) => !isLevel(level, index === levels.length - 1));
  if (odd !== undefined)
    return `"${odd}" is not a level of a pattern: +service, +path, +, a last #path or #, or plain text`;
  if (levels.filter((level) => level === "+service").length > 1) return "+service must occur only once";
  return levels.some((level) => named.has(level)) ? undefined : "must hold +service, +path or #path";
}

const named: ReadonlySet<string> = new Set(["+service", "+path", "#path"]);

function isLevel(level: string, isLast: boolean): boolean {
  if (level === "#" || level === "#path") return isLast;
  return level === "+" || named.has(level) || !/[+#]/.test(level);
}

/** Why a text is not a topic filter of MQTT; undefined when it is one. */
export function topicFilterFault(filter: string): string | undefined {
  const levels = filter.split("/");
  const misplaced = levels.find(
    (level, index) =>
      (level.includes("+") && level !== "+") || (level.includes("#") && (level !== "#" || index !== levels.length - 1)),
  );
  if (misplaced === undefined) return undefined;
  return `"${filter}" is not a topic filter: + must be a level of its own, # the last level`;
}
