import type { JsonObject } from "../../../agent/live/merge-patch.js";
import { badRequest, sendJson } from "../../answers.js";
import { countOf, parameterOf, queryIn } from "../../requests.js";
import { answersIn, askEach, type Call, passOn, type Told, toldBy } from "../call.js";
import { isObject, objectOf, textIn } from "../json.js";
import { type Absent, absent, runningIn } from "../team.js";
import { foundOf, missingText, tellingOf } from "./letter-answers.js";
import { lettersIn } from "./letter-order.js";

const defaultLimit = 50;
const largestLimit = 500;

/** Where a search goes on in each worker that is not at its end, and from which one letters come that agents share. */
interface Place {
  readonly first: number;
  /** By worker; empty at its beginning. */
  readonly at: ReadonlyMap<number, string>;
}

/** `GET /v1/admin/deadletters/search`: each page has a share of every worker that is not at its end. */
export async function searchLetters(call: Call): Promise<void> {
  const { request, response, team } = call;
  const running = runningIn(team);
  const { first, at } = placeIn(parameterOf(request, "cursor")) ?? {
    first: running[0]?.number ?? 0,
    at: new Map(team.workers.map(({ number }) => [number, ""])),
  };
  const limit = Math.min(Math.max(1, countOf(request, "limit", defaultLimit)), largestLimit);
  const left = running.filter(({ number }) => at.has(number));
  const asked = left.slice(0, limit);
  const share = Math.max(1, Math.floor(limit / Math.max(1, asked.length)));
  const replies = await askEach(
    call,
    asked.map((worker) => ({ worker, asked: { path: pathOf(request.url, share, at.get(worker.number) ?? "") } })),
  );
  const answers = answersIn(call, replies);
  const found = foundOf(answers);
  if ("refusal" in found) {
    passOn(call, found.refusal);
    return;
  }
  const told = toldBy(found.answers);
  const leader = left.some(({ number }) => number === first) || !at.has(first) ? first : left[0]?.number;
  const next = nextOf(
    told,
    left.slice(limit).map(({ number }) => [number, at.get(number) ?? ""] as const),
  );
  const away = absent(team, [...left.slice(limit), ...tellingOf(answers)]).filter(({ worker }) =>
    at.has(worker.number),
  );
  sendJson(response, 200, {
    ...told[0]?.body,
    deadletters: lettersIn(told, "newest", leader),
    next:
      next.size === 0 ? undefined : cursorOf({ first: leader ?? first, at: new Map([...placesOf(away, at), ...next]) }),
    complete: next.size + away.length === 0,
    ...missingText(away),
  });
}

function pathOf(url: string, share: number, cursor: string): string {
  const query = queryIn(url);
  query.set("limit", String(share));
  if (cursor === "") query.delete("cursor");
  else query.set("cursor", cursor);
  return `/v1/admin/deadletters/search?${query}`;
}

function nextOf(told: readonly Told[], later: readonly (readonly [number, string])[]): ReadonlyMap<number, string> {
  const going = told.flatMap(({ worker, body: { next } }) =>
    next === undefined ? [] : [[worker.number, textIn(next)] as const],
  );
  // Those that had no share of this page come before those that had.
  return new Map([...later, ...going]);
}

/** A worker that is away may be back at a later page, and goes on where it was. */
function placesOf(away: readonly Absent[], at: Place["at"]): readonly (readonly [number, string])[] {
  return away.map(({ worker: { number } }) => [number, at.get(number) ?? ""] as const);
}

function cursorOf({ first, at }: Place): string {
  return Buffer.from(JSON.stringify({ first, at: Object.fromEntries(at) })).toString("base64url");
}

function placeIn(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const { first, at } = objectOf(Buffer.from(cursor, "base64url"));
  if (typeof first === "number" && isObject(at)) return { first, at: new Map(placesIn(at)) };
  throw badRequest("Invalid parameter. cursor is the next of an answer");
}

function placesIn(at: JsonObject): readonly (readonly [number, string])[] {
  return Object.entries(at).map(([number, place]) => [Number(number), textIn(place)] as const);
}
