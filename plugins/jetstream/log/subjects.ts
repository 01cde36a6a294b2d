import type { LogPart } from "deneb/log";

/** The subjects of a log: those of its stream, and the one on which agents tell each other of new records, which is not kept. */
export interface Subjects {
  /** What the stream takes in. */
  readonly stored: readonly string[];
  /** All on which records of parts are announced. */
  readonly announced: string;
  of(part: LogPart): string;
  announcing(part: LogPart): string;
  /** The part that a subject of either kind is about. */
  part(subject: string): LogPart | undefined;
}

export function subjectsOf(stream: string): Subjects {
  return {
    stored: [`${stream}.p.*`, `${stream}.agents`, `${stream}.letters`],
    announced: `${stream}.new.*`,
    of: (part) => (typeof part === "number" ? `${stream}.p.${part}` : `${stream}.${part}`),
    announcing: (part) => `${stream}.new.${part}`,
    part: (subject) => {
      const word = subject.slice(subject.lastIndexOf(".") + 1);
      if (word === "agents" || word === "letters") return word;
      return /^\d+$/.test(word) ? Number(word) : undefined;
    },
  };
}
