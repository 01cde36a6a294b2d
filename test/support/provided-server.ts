/** A server that belongs to this test run. */
export interface OwnServer {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Ends the server and removes its files. Safe to call twice. */
  readonly stop: () => Promise<void>;
}

/** A kind of server the tests want, and the ways to have one. */
export interface ProvidedServer {
  /** For people; in lower case the name in DENEB_TEST_REQUIRE. */
  readonly name: string;
  /** Where it should be. */
  readonly where: string;
  /** Whether it is there. */
  answers(): Promise<boolean>;
  readonly missingPrograms: string;
  /** Starts one of our own; undefined when its programs are not installed. */
  start(): Promise<OwnServer | undefined>;
  /** Tells the test processes, through the environment, where our own one is. */
  announce(own: OwnServer): void;
}

export function where({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host}:${port}`;
}
