/** A word or phrase that is not written here, and what to write instead. */
interface Banned {
  readonly pattern: RegExp;
  readonly instead: string;
  /** Paths in which it is banned, by their beginning; absent: everywhere. */
  readonly within?: readonly string[];
}

/** Phrases that are not the plain technical English of the pages that docs/style.md names. */
const phrases: readonly Banned[] = [
  phrase("is told", "reported"),
  phrase("are told", "reported"),
  phrase("tells of", "reports"),
  phrase("for ever", "without limit"),
  phrase("given up", "abandoned"),
  phrase("gives? up", "abandons"),
  phrase("a look at", "checks"),
  phrase("so many", "a number, or that many"),
  phrase("who may", "callers that are allowed to"),
  phrase("what is not there", "absent members"),
  phrase("(?:made|makes?|begins?|written) anew", "is created again, starts again"),
  phrase("nobody waits", "nothing waits"),
  phrase("harms? no", "does not affect"),
  phrase("is a fault of", "is a bug of, is an error in"),
  phrase("all the same", "nevertheless, equal"),
  phrase("as it is(?=[.,;:)])", "unchanged"),
  phrase("(?:agents?|those|tables|configuration) of before", "earlier, previous, existing"),
];

/** Words of the last column of the glossary. */
const words: readonly Banned[] = [
  word("[Ii]ntake", "Receiver for requests, RowBuilder for rows"),
  word("[Rr]ejectedDelivery", "RejectedRequest"),
  word("[Ll]etter-?[Dd]esk", "DeadLetterReplay"),
  word("[Ss]erver-?[Pp]lace", "ServerAddress"),
  word("[Tt]old-?[Ee]rrors", "ErrorTableWriter"),
  word("[Cc]rew", "ComponentRunner"),
  word("[Gg]athering", "GroupCommitDelay"),
  word("[Bb]reath(?:e|ing)?", "linger"),
  word("[Ss]urroundings", "environment"),
  word("[Pp]arcels?", "batch"),
  word("[Pp]atience", "time-out"),
  word("[Pp]lacement-?[Rr]ules", "hash of the settings that determine tables and rows"),
  word("placement rules", "hash of the settings that determine tables and rows"),
];

/** Words that are right in one room and banned in others. */
const wordsOfRooms: readonly Banned[] = [
  { ...word("[Ee]xchanges?", "request, or replacement"), within: ["core/agent", "plugins/http-"] },
  { ...word("[Rr]ounds", "SingleFlight"), within: ["core/agent", "plugins/file-channel"] },
  // The member `destination` of an explained write is public: `deneb explain --json` prints it.
  { ...word("destinations?(?!: Object)", "TablePlacement, or commit unit"), within: ["core/sql", "plugins/rdb-sink"] },
  {
    ...word("(?:[Ss]tore|[Ss]erver|[Dd]atabase|[Mm]ysql|[Pp]ostgresql|[Ss]qlite)-?[Ff]aults?", "DatabaseError"),
    within: ["core/sql", "plugins"],
  },
  { ...word("Delivery", "InboundRequest"), within: ["core/sdk", "plugins"] },
];

export const banned: readonly Banned[] = [...phrases, ...words, ...wordsOfRooms];

/** Every banned word of one file, as `path:line: "found": write instead`. */
export function bannedWordsOf(path: string, text: string): readonly string[] {
  const prose = withoutGlossary(path, text);
  return banned
    .filter(({ within }) => within?.some((start) => path.startsWith(start)) ?? true)
    .flatMap(({ pattern, instead }) =>
      [...prose.matchAll(pattern)].map(({ index, 0: found }) => ({ line: lineAt(prose, index), found, instead })),
    )
    .sort((one, other) => one.line - other.line)
    .map(({ line, found, instead }) => `${path}:${line}: "${found.replaceAll(/\s+/g, " ")}": write ${instead}`);
}

/** In prose a phrase may go over the end of a line, in a comment with the mark of the next one. */
function phrase(source: string, instead: string): Banned {
  const between = "\\s+(?:(?:\\*|//|>)\\s+)?";
  return { pattern: new RegExp(`\\b${source.replaceAll(" ", between)}(?!\\w)`, "gi"), instead };
}

/** A word by itself, or as a part of a name in camelCase. */
function word(source: string, instead: string): Banned {
  return { pattern: new RegExp(`(?:\\b|(?<=[a-z])(?=[A-Z]))${source}(?:\\b|(?=[A-Z]))`, "g"), instead };
}

/** The glossary has to name the words that it bans. */
function withoutGlossary(path: string, text: string): string {
  if (path !== "docs/architecture.md") return text;
  return text.replace(/^## Glossary\n.*?(?=^## )/ms, (glossary) => glossary.replaceAll(/[^\n]/g, ""));
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
