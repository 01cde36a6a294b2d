/**
 * How files written for a predecessor spell a plugin. A component is of a spelling when its type is written with one
 * of the names, or when its properties say what the names mean. Each old name that is used is told with the new one.
 */
export interface Spelling {
  /** Other names of the type, for example class names; each is one of the plugin's aliases too. */
  readonly types: readonly string[];
  /** What the names mean besides the type: properties, as text. They count unless the file gives them. */
  readonly means?: Readonly<Record<string, string>>;
  /** Defaults that were others there: properties, as text, that count with one of the names unless the file gives them. */
  readonly implies?: Readonly<Record<string, string>>;
  /** Beginnings of property names, and what each is now: `{ mysql_: "rdb_" }`. */
  readonly prefixes?: Readonly<Record<string, string>>;
  /** Environment variables and the property each overrides, unless the property's own variable is set. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Environment variables that name a file holding the value, and the property each overrides likewise. */
  readonly fileVariables?: Readonly<Record<string, string>>;
  /** Properties there that are none here, and what to do instead. */
  readonly without?: Readonly<Record<string, string>>;
  /** What is better than there, a sentence each; `deneb migrate` tells it. */
  readonly better?: readonly string[];
  /** What is different from there, a sentence each. */
  readonly different?: readonly string[];
}
