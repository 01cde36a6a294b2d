import type { Statement } from "deneb/sql";

const SUFFIX = ".db";

/** The file name of a schema with any characters. */
export function fileName(schema: string): string {
  return encodeURIComponent(schema) + SUFFIX;
}

/** The schema of a file name; undefined for a file that holds no schema. */
export function schemaOf(file: string): string | undefined {
  return file.endsWith(SUFFIX) ? decoded(file.slice(0, -SUFFIX.length)) : undefined;
}

/** The schemas of statements, in the order of their first ones. */
export function schemasOf(statements: readonly Statement[]): readonly string[] {
  return [...new Set(statements.map(({ at }) => at.schema))];
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not a file of the agent, which escapes every %.
    return undefined;
  }
}
