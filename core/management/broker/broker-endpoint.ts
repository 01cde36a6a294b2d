/** Where a broker is and how to call it. */
export interface BrokerEndpoint {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Sent as `X-Auth-Token` when there is one. */
  readonly token: string | undefined;
}

/** The endpoint as people write it. */
export function addressOf({ host, port }: BrokerEndpoint): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
