/** The properties of an agent "a" with the source "http-source" on a free port, a memory channel "c" and the logger sink "k". */
export const loggingAgent = `
a.sources = http-source
a.channels = c
a.sinks = k
a.sources.http-source.type = http
a.sources.http-source.bind = 127.0.0.1
a.sources.http-source.port = 0
a.sources.http-source.channels = c
a.sources.http-source.handler = ngsi
a.channels.c.type = memory
a.sinks.k.type = logger
a.sinks.k.channel = c
`;
