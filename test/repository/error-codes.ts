/** The codes of the errors that a source file throws. */
export function codesIn(text: string): readonly string[] {
  return [...text.matchAll(THROWN)].flatMap(([, argument = ""]) => codesOf(argument, text));
}

// The first argument of each AgentError; `super` counts in a class that extends it.
const THROWN = /(?:new AgentError|class \w+ extends AgentError \{(?:(?!\n\}).)*?super)\(\s*([^,]+),/gs;

const CODE = /"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)"/g;

/** Literals of the argument, and those that its names stand for in the same file. */
function codesOf(argument: string, text: string): readonly string[] {
  const literals = literalsIn(argument);
  const names = [...argument.replaceAll(/"[^"]*"/g, "").matchAll(/\b[A-Za-z]\w*\b/g)].map(([name]) => name);
  const values = names.flatMap((name) =>
    [...text.matchAll(new RegExp(`\\b${name}\\b(?: =|:) ([^;\\n]*)`, "g"))].flatMap(([, value = ""]) =>
      literalsIn(value),
    ),
  );
  return [...literals, ...values];
}

function literalsIn(text: string): readonly string[] {
  return [...text.matchAll(CODE)].map(([, code = ""]) => code);
}

/** The codes in the first columns of the tables of a page. */
export function documentedCodes(page: string): readonly string[] {
  return [...page.matchAll(/^\| `([A-Z0-9_]+)` \| [^|]+ \| (?:yes|no|-) \|$/gm)].map(([, code = ""]) => code);
}
