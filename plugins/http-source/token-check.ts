import { createHash, timingSafeEqual } from "node:crypto";
import type { InboundRequest } from "deneb/sdk";

type Headers = InboundRequest["headers"];

/** Makes the check of a request's token: whether it carries one of these, where there are any. */
export function tokenCheck(tokens: readonly string[]): (headers: Headers) => boolean {
  if (tokens.length === 0) return () => true;
  const known = tokens.map(digest);
  return (headers) => {
    const given = givenTokens(headers).map(digest);
    // All are compared, in a time that does not depend on where they differ.
    const matches = given.flatMap((one) => known.map((token) => timingSafeEqual(token, one)));
    return matches.includes(true);
  };
}

function givenTokens(headers: Headers): readonly string[] {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "") ?? [];
  const header = headers["x-auth-token"];
  return [bearer, header].filter((token) => typeof token === "string");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
