/** What each format reads from a properties file, and the type a component gets. */
interface Formats {
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

/** The name of a format, as in `format: "port"`. @stable */
export type FormatName = keyof Formats;

/** A list of the given texts, separated by blanks or commas: `format: { listOf: ["create", "update"] }`. @stable */
export interface ListFormat {
  readonly listOf: readonly string[];
}

/**
 * An object whose members are properties: with `retry: { doc, format: { fields: { times: { doc, format: "count" } } } }` the
 * line `retry.times = 3` gives `{ times: 3 }` for `retry`. Its fields may have fields, at most {@link DEEPEST_FIELDS} one
 * below the other. What is `sensitive` or `deprecated` is so with all its fields; everything else is declared by the fields.
 * @stable
 */
export interface FieldsFormat {
  readonly fields: Schema;
}

/**
 * What a property may be: a named format, the list of the only allowed texts, a list of such texts, or an object.
 * @stable
 */
export type Format = FormatName | readonly string[] | ListFormat | FieldsFormat;

/** How many formats with `fields` may stand one below the other. */
export const DEEPEST_FIELDS = 5;

/**
 * One property of a component. The schema is the single source of defaults, types, validation, environment
 * variables, masking of secrets and the reference pages.
 * @stable
 */
export interface Property {
  /** One or two sentences with the unit and the meaning of special values. */
  readonly doc: string;
  readonly format: Format;
  /** Absent: the property must be given. A property with `fields` has none of its own. */
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
   * `url`: where it sends what it takes, a text that begins with a scheme (`https://`); `client`: the address of a server, and behind
   * it the name by which the server knows the component, where no two may have the same; an empty one collides with none.
   */
  readonly resource?: "port" | "host" | "folder" | "url" | "client";
  /** Why not to use it any more, and what instead. */
  readonly deprecated?: string;
}

/**
 * The properties of a component by name, as they are written in a properties file behind the name of the component.
 * @stable
 */
export type Schema = Readonly<Record<string, Property>>;

type ValueOf<F extends Format> = F extends FormatName
  ? Formats[F]
  : F extends readonly (infer Choice)[]
    ? Choice
    : F extends { readonly listOf: readonly (infer Choice)[] }
      ? readonly Choice[]
      : F extends FieldsFormat
        ? ConfigOf<F["fields"]>
        : never;

// The intersection makes editors show the properties instead of the name of this type.
/** The configuration a component gets: one typed value for each property of its schema. @stable */
export type ConfigOf<S extends Schema> = { readonly [K in keyof S]: ValueOf<S[K]["format"]> } & {};

/**
 * What a schema must be so that each default is a value of its format, and fields have the only defaults of an object. Of use
 * for functions that make plugins of any schema: `<const S extends Schema & WithDefaults<S>>(schema: S)`.
 * @stable
 */
export type WithDefaults<S extends Schema> = {
  readonly [K in keyof S]: S[K]["format"] extends { readonly fields: infer Fields extends Schema }
    ? FieldsProperty<WithDefaults<Fields>>
    : Defaulted<S[K]["format"], ValueOf<S[K]["format"]>>;
};

interface FieldsProperty<Fields> extends Pick<Property, "doc" | "sensitive" | "deprecated"> {
  readonly format: { readonly fields: Fields };
  readonly default?: never;
  readonly env?: never;
  readonly envFile?: never;
  readonly resource?: never;
}

interface Defaulted<F, Default> extends Omit<Property, "default" | "format"> {
  readonly format: F;
  readonly default?: Default;
}
