import type { Properties } from "properties-file/parser";
import { type ConfigurationFault, warningAt } from "../configuration-fault.js";

type PropertyNode = ReturnType<Properties["getProperties"]>[number];

/** Warnings of values that hold what their writer may have taken for syntax. The value itself may be a secret, and is not shown. */
export function doubtfulValues({ key, value, escapedValue, startingLineNumber }: PropertyNode): ConfigurationFault[] {
  const texts = { value: value.trim(), written: escapedValue };
  return doubts
    .filter(({ isIn }) => isIn(texts))
    .map(({ reason }) => warningAt({ key: key.trim(), line: startingLineNumber }, reason));
}

/** A warning of a variable as some readers of variable files leave it: in its quotes, or with the end of a line of Windows. */
export function doubtfulVariable(name: string, value: string): ConfigurationFault[] {
  if (IN_QUOTES.test(value)) return [warningAt({ key: name }, QUOTES_REASON)];
  if (value.trim() === value) return [];
  return [
    warningAt({ key: name }, "begins or ends with a blank or a line break, which is part of the value; remove it"),
  ];
}

const IN_QUOTES = /^(?:"[^"]*"|'[^']*'|[\u201c\u201d\u201e].*[\u201c\u201d])$/s;
const QUOTES_REASON = "is in quotes, which are part of the value; remove them unless they are meant";

interface Texts {
  readonly value: string;
  /** With its escapes. */
  readonly written: string;
}

const doubts: readonly { readonly isIn: (texts: Texts) => boolean; readonly reason: string }[] = [
  {
    isIn: ({ value }) => IN_QUOTES.test(value),
    reason: QUOTES_REASON,
  },
  {
    isIn: ({ value }) => /\s#/.test(value),
    reason: 'holds "#", which begins no comment there and is part of the value; write comments on lines of their own',
  },
  {
    isIn: ({ written }) => [...written.matchAll(/\\(.)/gs)].some(([, escaped = ""]) => !ESCAPED.test(escaped)),
    reason: "holds a backslash that is left out, as in Java; write a backslash itself as \\\\",
  },
  {
    isIn: ({ value }) => /^\$[A-Z_][A-Z\d_]*$/.test(value),
    reason: `is the text itself, dollar sign included; an environment variable is written \${env:NAME}`,
  },
  {
    isIn: ({ value }) => /[\u0080-\u009f]/.test(value),
    reason: "holds a control character, as from a file in Windows-1252; save the file as UTF-8",
  },
];

/** What a backslash stands before for a reason. */
const ESCAPED = /[tnrfu\\\s:=#!"']/;
