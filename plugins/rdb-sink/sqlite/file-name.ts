const SUFFIX = ".db";

/** The name of the file of a schema, whatever characters the schema has. */
export function fileName(schema: string): string {
  return encodeURIComponent(schema) + SUFFIX;
}

/** The schema kept in a file of this name; undefined for a file that holds no schema. */
export function schemaOf(file: string): string | undefined {
  return file.endsWith(SUFFIX) ? decoded(file.slice(0, -SUFFIX.length)) : undefined;
}

function decoded(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    // Not one of ours: we write every % as an escape.
    return undefined;
  }
}
