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

/** Browsers say when a page makes them call; there are no pages here, and nobody operates an agent from another one. */
export const refusePages: RequestHandler = (request, response, next) => {
  const site = request.get("sec-fetch-site");
  const ownPage = site === undefined || site === "same-origin" || site === "none";
  if (ownPage && request.get("origin") === undefined) next();
  else fail(response, 403, { error: "Calls from pages in a browser are refused" });
};
