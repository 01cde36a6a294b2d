import { AgentError, codeOf } from "deneb/sdk";

export interface ListenAddress {
  readonly source: string;
  readonly host: string;
  readonly port: number;
}

/** The error of a source that cannot listen: the reason and the remedy. */
export function listenFailure({ source, host, port }: ListenAddress, cause: unknown): AgentError {
  const { code, remedy, retryable } = failures.get(codeOf(cause)) ?? unknownFailure;
  const message = `starting source "${source}": listening on port ${port} of "${host}": ${remedy}`;
  return new AgentError(code, message, { cause, retryable });
}

interface ListenFailure {
  readonly code: string;
  readonly remedy: string;
  readonly retryable: boolean;
}

const unknownFailure: ListenFailure = {
  code: "LISTEN_FAILED",
  remedy: `check its properties "port" and "bind"`,
  retryable: false,
};

const failures: ReadonlyMap<string | undefined, ListenFailure> = new Map([
  [
    "EADDRINUSE",
    {
      code: "PORT_IN_USE",
      remedy: `the port is in use; stop the program that has it, or set property "port" to a free one`,
      retryable: true,
    },
  ],
  [
    "EACCES",
    {
      code: "PORT_FORBIDDEN",
      remedy: `this user may not use the port; set property "port" to one above 1023`,
      retryable: false,
    },
  ],
  [
    "EADDRNOTAVAIL",
    {
      code: "ADDRESS_NOT_AVAILABLE",
      remedy: `this machine does not have the address; set property "bind" to one of its own, or to 0.0.0.0`,
      retryable: false,
    },
  ],
]);
