import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const redisOnceSchema = {
  url: {
    doc: "Address of the Redis: redis://host:port, or rediss:// with TLS; user, password and number of the database where needed.",
    format: "text",
    default: "redis://127.0.0.1:6379",
    sensitive: true,
  },
  stream: {
    doc: "Key of the stream that gets the events; keys that begin with it and a colon are the sink's.",
    format: "text",
    default: "deneb",
  },
} as const satisfies Schema;

export type RedisOnceConfig = ConfigOf<typeof redisOnceSchema>;

/** What the format of a property cannot check. */
export function checkRedisOnce({ url, stream }: RedisOnceConfig): readonly PropertyFault<typeof redisOnceSchema>[] {
  if (!/^rediss?:\/\//.test(url) || !URL.canParse(url))
    return [{ property: "url", reason: "must begin with redis:// or rediss://" }];
  return stream === "" ? [{ property: "stream", reason: "must not be empty" }] : [];
}
