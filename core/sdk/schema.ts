/** What each format reads from a properties file, and the type a component gets. */
export interface Formats {
  /** Any text. */
  readonly text: string;
  /** Exactly `true` or `false`. */
  readonly flag: boolean;
  /** A whole number, 0 or more. */
  readonly count: number;
  /** A whole number, negative ones included. */
  readonly integer: number;
  /** A TCP port, 0 to 65535; 0 lets the system choose. */
  readonly port: number;
  /** A whole number of milliseconds, 0 or more. */
  readonly millis: number;
  /** A whole number of seconds, 0 or more. */
  readonly seconds: number;
  /** A list separated by blanks or commas. */
  readonly words: readonly string[];
  /** A list of milliseconds separated by blanks or commas, each 1 or more. */
  readonly "millis-list": readonly number[];
  /**
   * The properties below this one: `mapping.a = x` gives `{ a: "x" }` for `mapping`. Where the name is a property of its
   * own, too, the map is called `<name>.*`: with `storages = 1` and `storages.a = x` it is `storages.*`.
   */
  readonly map: Readonly<Record<string, string>>;
}

/** The name of a format, as in `format: "port"`. */
export type FormatName = keyof Formats;

/**
 * One property of a component. The schema is the single source of defaults, types, validation, environment
 * variables, masking of secrets and the reference pages.
 */
export interface Property {
  /** One or two sentences with the unit and the meaning of special values. */
  readonly doc: string;
  /** A format, or the list of the only allowed texts. */
  readonly format: FormatName | readonly string[];
  /** Absent: the property must be given. */
  readonly default?:
    | string
    | number
    | boolean
    | readonly string[]
    | readonly number[]
    | Readonly<Record<string, string>>;
  /** Smallest and largest number allowed. */
  readonly min?: number;
  readonly max?: number;
  /** Longest text allowed, in characters. */
  readonly maxLength?: number;
  /** Environment variable that overrides the file when it is not empty. */
  readonly env?: string;
  /** Environment variable that names a file holding the value. */
  readonly envFile?: string;
  /** Never shown: masked wherever the configuration is printed. */
  readonly sensitive?: true;
  /**
   * What the value stands for outside the program; the agent refuses a configuration in which two components collide:
   * `port`: a port the component listens on; `host`: the address for it; `folder`: folders that it alone may use;
   * `url`: where it sends what it takes.
   */
  readonly resource?: "port" | "host" | "folder" | "url";
  /** Why not to use it any more, and what instead. */
  readonly deprecated?: string;
}

/** The properties of a component by name, as they are written in a properties file behind the name of the component. */
export type Schema = Readonly<Record<string, Property>>;

type ValueOf<P extends Property> = P["format"] extends FormatName
  ? Formats[P["format"]]
  : P["format"] extends readonly (infer Choice)[]
    ? Choice
    : never;

/** The configuration a component gets: one typed value for each property of its schema. */
export type ConfigOf<S extends Schema> = { readonly [K in keyof S]: ValueOf<S[K]> };
