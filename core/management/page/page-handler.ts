import type { RequestHandler, Response } from "express";
import { fail } from "../answers.js";
import { folder, isPageAddress } from "./page-address.js";
import { type Page, type PageFile, readPage } from "./page-files.js";

/**
 * `GET /ui/`: the page and its files. They hold nothing of the agent, so they need no token; the page asks for one, and
 * its calls have it. Files are read at the first request and kept compressed.
 */
export function servePage(): RequestHandler {
  let reading: Promise<Page> | undefined;
  const page = () => {
    reading ??= readPage().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
  return async (request, response, next) => {
    const { method, path } = request;
    if (method !== "GET" || !(isPageAddress(path) || path.startsWith(folder))) {
      next();
      return;
    }
    if (path === "/ui") {
      response.status(308).set("Location", "ui/").end();
      return;
    }
    const { files, policy } = await page();
    const file = files.get(path.slice(folder.length));
    if (file === undefined) {
      fail(response, 404, { error: `GET ${path} not found; the page is at ${folder}` });
      return;
    }
    response.set({ ...pageHeaders, ETag: file.tag });
    if (path === folder) response.set("Content-Security-Policy", policy);
    if (request.get("if-none-match")?.includes(file.tag) === true) response.status(304).end();
    else send(response, file, /\bgzip\b/.test(request.get("accept-encoding") ?? ""));
  };
}

/** For the page while it is switched off. */
export const pageIsOff: RequestHandler = ({ method, path }, response, next) => {
  if (method === "GET" && (isPageAddress(path) || path.startsWith(folder))) {
    fail(response, 404, { error: "The page is off; start the agent with --management-page true" });
  } else next();
};

/** A browser asks each time whether its copy is current, so that a new version of the agent shows its own page. */
const pageHeaders = {
  "Cache-Control": "no-cache",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  Vary: "Accept-Encoding",
} as const;

function send(response: Response, { type, content, compressed }: PageFile, mayCompress: boolean): void {
  response.set("Content-Type", type);
  if (mayCompress) response.set("Content-Encoding", "gzip").end(compressed);
  else response.end(content);
}
