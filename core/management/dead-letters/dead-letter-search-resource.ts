import { type Request, Router } from "express";
import type { DeadLetterReplay } from "../../agent/replay/dead-letter-replay.js";
import { SerialQueue } from "../../files/serial-queue.js";
import { choiceNames, isChosen } from "../../pipeline/dead-letters/choice.js";
import type { LetterPlace, OpenLetter } from "../../pipeline/dead-letters/dead-letters.js";
import { badRequest, succeed } from "../answers.js";
import type { Resource } from "../openapi.js";
import { asObject, countOf, parameterOf } from "../requests.js";
import { searchPaths as paths, searchSchemas as schemas } from "./dead-letters-openapi.js";
import { choiceOf, withoutEvent } from "./dead-letters-resource.js";

const defaultLimit = 50;
const largestLimit = 500;
/** Bytes of files that one call reads. */
const mostBytes = 64 * 1024 * 1024;
/** Milliseconds that one call takes. */
const longest = 1000;
const parameters: ReadonlySet<string> = new Set([...choiceNames, "limit", "cursor"]);

/** `GET /v1/admin/deadletters/search`: dead letters page by page, without reading a large file for each page. */
export function deadLetterSearchResource(deadLetters: DeadLetterReplay): Resource {
  const router = Router({ caseSensitive: true });
  // Each reads a part of the files. Many together would leave no time between two parts for anything else.
  const searches = new SerialQueue();
  router.get("/v1/admin/deadletters/search", async (request, response) => {
    const choice = await choiceOf(deadLetters, request, parameters);
    const limit = Math.min(Math.max(1, countOf(request, "limit", defaultLimit)), largestLimit);
    const page = { sink: choice.sink, after: placeIn(request), limit, bytes: mostBytes, milliseconds: longest };
    const isMeant = (letter: OpenLetter) => isChosen(choice, letter);
    const found = await searches.run(() =>
      // Its caller may have left while it waited.
      response.destroyed ? undefined : deadLetters.letters.search(isMeant, page),
    );
    if (found === undefined) return;
    const { letters, next } = found;
    succeed(response, {
      deadletters: letters.map(withoutEvent),
      ...(next === undefined ? {} : { next: cursorOf(next) }),
      complete: next === undefined,
    });
  });
  return { router, paths, schemas };
}

function cursorOf({ sink, offset, id, time }: LetterPlace): string {
  return Buffer.from(JSON.stringify([sink, offset, id, time])).toString("base64url");
}

function placeIn(request: Request): LetterPlace | undefined {
  const cursor = parameterOf(request, "cursor");
  if (cursor === undefined) return undefined;
  const [sink, offset, id, time] = partsOf(cursor);
  const isPlace =
    typeof sink === "string" &&
    typeof offset === "number" &&
    Number.isSafeInteger(offset) &&
    offset >= 0 &&
    typeof id === "string" &&
    typeof time === "string";
  if (isPlace) return { sink, offset, id, time };
  throw badRequest("Invalid parameter. cursor is the next of an answer");
}

function partsOf(cursor: string): readonly unknown[] {
  try {
    const { parts } = asObject({ parts: JSON.parse(Buffer.from(cursor, "base64url").toString()) }) ?? {};
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
