interface AgentParts {
  /** Type of the channel "c". */
  readonly channel: string;
  /** Type of the sink "k". */
  readonly sink: string;
  /** Of the source; absent: a free one. */
  readonly port?: number;
  /** Further lines. */
  readonly lines?: readonly string[];
}

/** The properties of an agent "a" with the source "http-source", a channel "c" and a sink "k". */
export function httpAgent({ channel, sink, port = 0, lines = [] }: AgentParts): string {
  return `
a.sources = http-source
a.channels = c
a.sinks = k
a.sources.http-source.type = http
a.sources.http-source.bind = 127.0.0.1
a.sources.http-source.port = ${port}
a.sources.http-source.channels = c
a.sources.http-source.handler = ngsi
a.channels.c.type = ${channel}
a.sinks.k.type = ${sink}
a.sinks.k.channel = c
${lines.map((line) => `${line}\n`).join("")}`;
}
