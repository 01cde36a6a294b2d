import type { EnvironmentVariables } from "../configuration-fault.js";

/** A text with its expressions replaced, and the expressions that could not be. */
export interface Substitution {
  readonly text: string;
  readonly mistakes: readonly Mistake[];
}

export interface Mistake {
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
  const open = text.indexOf("${");
  if (open < 0) return { text, mistakes: [] };
  if (text[open - 1] === "$") {
    return joined({ text: `${text.slice(0, open - 1)}\${`, mistakes: [] }, substitute(text.slice(open + 2), env));
  }
  const close = closingBrace(text, open);
  if (close === undefined) return mistaken(text.slice(open), `has no closing "}"; ${LITERAL}`);
  const resolved = resolve(text.slice(open + 2, close), env);
  const before = { text: text.slice(0, open), mistakes: [] };
  return joined(joined(before, resolved), substitute(text.slice(close + 1), env));
}

const LITERAL = `a literal \${ is written $\${`;
const FORMS = `only \${env:NAME}, \${env:NAME:-default}, \${NAME} and \${NAME:-default} are replaced`;
const EXPRESSION = /^(?:env:)?([A-Za-z_][\w.-]*)(?::-([\s\S]*))?$/;

function resolve(body: string, env: EnvironmentVariables): Substitution {
  const [, name, fallback] = EXPRESSION.exec(body) ?? [];
  if (name === undefined) return mistaken(`\${${body}}`, `${FORMS}; ${LITERAL}`);
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined) return value ? { text: value, mistakes: [] } : substitute(fallback, env);
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

function joined(first: Substitution, second: Substitution): Substitution {
  return { text: first.text + second.text, mistakes: [...first.mistakes, ...second.mistakes] };
}
