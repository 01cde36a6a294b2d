import type { JsonObject } from "../../../agent/live/merge-patch.js";
import type { Told } from "../call.js";
import { mergedInOrder } from "../joined/merged-in-order.js";
import { objectsIn, textIn } from "../json.js";

/** `oldest`, as lists are, or `newest`, as searches are; both go sink after sink by name. */
type LetterOrder = "oldest" | "newest";

/** The letters of several answers. Those that agents share are the same in each, and taken from the first. */
export function lettersIn(
  told: readonly Told[],
  order: LetterOrder,
  first = told[0]?.worker.number,
): readonly JsonObject[] {
  const lists = told.map(({ worker, body }) => {
    const letters = objectsIn(body["deadletters"]);
    return worker.number === first ? letters : letters.filter((one) => !isShared(one));
  });
  return mergedInOrder(lists, order === "oldest" ? byAge : (one, other) => bySink(one, other) || byAge(other, one));
}

/** A letter with an agent is one of a log that agents share. */
export function isShared({ agent }: JsonObject): boolean {
  return agent !== undefined;
}

function byAge(one: JsonObject, other: JsonObject): number {
  return bySink(one, other) || compared(one["time"], other["time"]);
}

function bySink(one: JsonObject, other: JsonObject): number {
  return compared(one["sink"], other["sink"]);
}

function compared(one: JsonObject[string], other: JsonObject[string]): number {
  const texts = [textIn(one), textIn(other)] as const;
  return texts[0] < texts[1] ? -1 : Number(texts[0] > texts[1]);
}
