import type { Verification } from "../../agent/verification.js";
import { documentOf, objectIn } from "./documents.js";
import type { WorkerAnswer } from "./worker-calls.js";

/** The comparison that a worker answers with; one that did not answer, or refused, is a store that could not be asked. */
export function verificationIn(answer: WorkerAnswer): Verification {
  const found: unknown = objectIn(documentOf(answer), "verification");
  if (isVerification(found)) return found;
  const unknown = [`it answered with status ${answer.status}`];
  return { ok: true, channels: [], tables: [], differences: [], unknown, notes: [] };
}

const lists = ["channels", "tables", "differences", "unknown", "notes"] as const;

/** Workers run the same program: a value with these members is one of their own. */
function isVerification(value: unknown): value is Verification {
  return typeof value === "object" && value !== null && lists.every((name) => Array.isArray(Reflect.get(value, name)));
}
