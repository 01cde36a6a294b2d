import type { RequestHandler } from "express";
import { fail } from "../envelope.js";

/** Nothing here is a page: it is not to be kept, framed, guessed at or run. */
export function securityHeaders(tls: boolean): RequestHandler {
  const headers = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    ...(tls ? { "Strict-Transport-Security": "max-age=31536000" } : {}),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}

/** Browsers say when a page of another site makes them call; nobody who operates an agent does that. */
export const refuseOtherSites: RequestHandler = (request, response, next) => {
  const site = request.get("sec-fetch-site");
  if (site === undefined || site === "same-origin" || site === "none") next();
  else fail(response, 403, { error: "Calls from pages of other sites are refused" });
};
