import { coded, type Described, type Explanation } from "./explanation.js";

/** What errors of Node mean that come instead of an answer of a server. */
export function networkErrors(described: Described): readonly Explanation[] {
  return [
    {
      when: coded("ECONNREFUSED"),
      say: ({ address }) =>
        `connection refused: no server listens at ${address}; start it or check rdb_host and rdb_port`,
    },
    {
      when: coded("EAI_AGAIN"),
      say: ({ address }) => `the host of ${address} cannot be looked up now: no name server answers; check DNS`,
    },
    {
      when: coded("ENOTFOUND"),
      say: ({ address }) => `the host of ${address} is not known; check rdb_host`,
    },
    noAnswer(coded("ETIMEDOUT", "EHOSTUNREACH", "ENETUNREACH"), described),
  ];
}

/** The server did not answer in time, by what a driver says of it. */
export function noAnswer(when: Explanation["when"], described: Described): Explanation {
  return {
    when,
    say: (server) => `no answer in time from ${described(server)}; check rdb_host, rdb_port and the network`,
  };
}
