import { adminOnly } from "../../security/access.js";
import type { PassThrough } from "../pass-through.js";
import type { Rule } from "../rule-router.js";
import { changeLetters } from "./letter-changes.js";
import { listLetters } from "./letter-list.js";
import { searchLetters } from "./letter-search.js";
import { changeLetter, showLetter } from "./one-letter.js";

const path = "/v1/admin/deadletters";

/** What the gateway answers to calls for dead letters. */
export function letterRules(through: PassThrough): readonly Rule[] {
  return [
    { methods: ["get"], paths: [path], answer: listLetters },
    { methods: ["get"], paths: [`${path}/search`], answer: searchLetters },
    { methods: ["delete"], paths: [path], answer: changeLetters },
    { methods: ["post"], paths: [`${path}/replay`], answer: changeLetters },
    { methods: ["get"], paths: [`${path}/:id`], guard: adminOnly, answer: showLetter },
    { methods: ["delete"], paths: [`${path}/:id`], answer: changeLetter(through) },
    { methods: ["post"], paths: [`${path}/:id/replay`], answer: changeLetter(through) },
  ];
}
