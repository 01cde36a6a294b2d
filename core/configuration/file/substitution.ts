import type { EnvironmentVariables } from "../configuration-fault.js";

/** A text with its expressions replaced, and the expressions that could not be. */
interface Substitution {
  readonly text: string;
  readonly mistakes: readonly Mistake[];
}

interface Mistake {
  readonly expression: string;
  readonly reason: string;
  /** The environment variable that is not set, where that is the mistake. */
  readonly unsetVariable?: string;
}

/**
 * Replaces `${env:NAME}` and `${NAME}` by the environment variable, with `:-default` by the default where the
 * variable is not set or empty. A default may hold expressions; the value of a variable is not expanded.
 * `$${` writes `${`.
 */
export function substitute(text: string, env: EnvironmentVariables): Substitution {
  return substituted(text, env, 0);
}

function substituted(text: string, env: EnvironmentVariables, depth: number): Substitution {
  const mistakes: Mistake[] = [];
  let replaced = "";
  let done = 0;
  for (let open = text.indexOf(OPENING); open >= 0; open = text.indexOf(OPENING, done)) {
    const isLiteral = open > done && text[open - 1] === "$";
    const close = isLiteral ? open + 1 : closingBrace(text, open);
    replaced += text.slice(done, isLiteral ? open - 1 : open);
    if (close === undefined) {
      mistakes.push({ expression: text.slice(open), reason: `has no closing "}"; ${LITERAL}` });
      return { text: replaced, mistakes };
    }
    const part = isLiteral ? { text: OPENING, mistakes: [] } : resolve(text.slice(open + 2, close), env, depth);
    replaced += part.text;
    mistakes.push(...part.mistakes);
    done = close + 1;
  }
  return { text: replaced + text.slice(done), mistakes };
}

const OPENING = "${";
const MOST_DEPTH = 100;
const LITERAL = `a literal \${ is written $\${`;
const FORMS = `only \${env:NAME}, \${env:NAME:-default}, \${NAME} and \${NAME:-default} are replaced`;
const EXPRESSION = /^(?:env:)?([A-Za-z_][\w.-]*)(?::-([\s\S]*))?$/;

function resolve(body: string, env: EnvironmentVariables, depth: number): Substitution {
  if (depth === MOST_DEPTH)
    return mistaken(`\${${body}}`, `is in more than ${MOST_DEPTH} defaults of other expressions`);
  const [, name, fallback] = EXPRESSION.exec(body) ?? [];
  if (name === undefined) return mistaken(`\${${body}}`, `${FORMS}; ${LITERAL}`);
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined) return value ? { text: value, mistakes: [] } : substituted(fallback, env, depth + 1);
  if (value !== undefined) return { text: value, mistakes: [] };
  const remedy = `set it, or give a default: \${env:${name}:-default}`;
  const mistake = { expression: `\${${body}}`, reason: `the environment variable "${name}" is not set; ${remedy}` };
  return { text: "", mistakes: [{ ...mistake, unsetVariable: name }] };
}

function closingBrace(text: string, open: number): number | undefined {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    if (text.startsWith("${", at)) depth += 1;
    else if (text[at] === "}") depth -= 1;
    if (depth === 0) return at;
  }
  return undefined;
}

function mistaken(expression: string, reason: string): Substitution {
  return { text: "", mistakes: [{ expression, reason }] };
}
