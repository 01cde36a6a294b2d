import { Router } from "express";
import type { Verifier } from "../agent/verification/verifier.js";
import { succeed } from "./answers.js";
import {
  answer,
  count,
  flag,
  listOf,
  operation,
  type Resource,
  record,
  schemaRef,
  success,
  text,
  texts,
} from "./openapi.js";

/** `GET /v1/admin/verify`: the ledger compared with the channels and the stores. */
export function verifyResource(verifier: Pick<Verifier, "verify">): Resource {
  const router = Router({ caseSensitive: true });
  router.get("/v1/admin/verify", async (_request, response) => {
    succeed(response, { verification: await verifier.verify() });
  });
  const get = operation({
    summary: "Compares the ledger with the channels and the stores.",
    responses: { "200": answer("What was compared, and what differs.", schemaRef("Verification")) },
  });
  const verification = record({
    ok: flag,
    channels: listOf({ type: "object" }),
    tables: listOf(record({ sink: text, table: text, rows: count })),
    differences: texts,
    unknown: texts,
    notes: texts,
  });
  return {
    router,
    paths: { "/v1/admin/verify": { get } },
    schemas: { Verification: record({ success, verification }) },
  };
}
