/** What a reader looks for; empty members do not restrict. */
export interface LetterFilter {
  readonly sink: string;
  readonly service: string;
  readonly entity: string;
  readonly type: string;
  readonly reason: string;
  readonly code: string;
  readonly text: string;
  /** As an input of local time gives it. */
  readonly since: string;
  readonly until: string;
}

export const noFilter: LetterFilter = {
  sink: "",
  service: "",
  entity: "",
  type: "",
  reason: "",
  code: "",
  text: "",
  since: "",
  until: "",
};

export function isSameFilter(one: LetterFilter, other: LetterFilter): boolean {
  const texts = new Map(Object.entries(other));
  return Object.entries(one).every(([name, text]) => text === texts.get(name));
}

const words: readonly { readonly name: keyof LetterFilter; readonly word: string }[] = [
  { name: "text", word: "message contains" },
  { name: "sink", word: "sink" },
  { name: "reason", word: "reason" },
  { name: "service", word: "service" },
  { name: "entity", word: "entity id" },
  { name: "type", word: "entity type" },
  { name: "code", word: "error code" },
  { name: "since", word: "kept since" },
  { name: "until", word: "kept until" },
];

/** What a search restricts, as a sentence. */
export function scopeOf(filter: LetterFilter): string {
  const parts = words.filter(({ name }) => filter[name] !== "").map(({ name, word }) => `${word} ${filter[name]}`);
  return parts.length === 0
    ? "The search restricts nothing: these are all dead letters."
    : `Those with ${parts.join(", ")}.`;
}
