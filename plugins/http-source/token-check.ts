import { createHash, timingSafeEqual } from "node:crypto";
import type { HttpRequest } from "./http-request.js";

/** Creates the check whether a request carries one of the tokens; without tokens every request passes. */
export function tokenCheck(tokens: readonly string[]): (headers: HttpRequest["headers"]) => boolean {
  if (tokens.length === 0) return () => true;
  const known = tokens.map(digest);
  return (headers) => {
    const given = givenTokens(headers).map(digest);
    // All are compared, in a time that does not depend on where they differ.
    const matches = given.flatMap((one) => known.map((token) => timingSafeEqual(token, one)));
    return matches.includes(true);
  };
}

function givenTokens(headers: HttpRequest["headers"]): readonly string[] {
  const [, bearer] = /^Bearer +(\S+)$/i.exec(headers["authorization"] ?? "") ?? [];
  const header = headers["x-auth-token"];
  return [bearer, header].filter((token) => typeof token === "string");
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
