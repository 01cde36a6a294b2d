import type { Request } from "express";

/** The value of a query parameter, its first one when there are several; undefined when it is missing. */
export function parameter(request: Request, name: string): string | undefined {
  const start = request.originalUrl.indexOf("?");
  if (start === -1) return undefined;
  return new URLSearchParams(request.originalUrl.slice(start + 1)).get(name) ?? undefined;
}
