import { Router } from "express";
import type { Verifier } from "../agent/verifier.js";
import { succeed } from "./envelope.js";

/** `GET /v1/admin/verify`: the ledger compared with the channels and the stores. */
export function verifyResource(verifier: Pick<Verifier, "verify">): Router {
  const router = Router({ caseSensitive: true });
  router.get("/v1/admin/verify", async (_request, response) => {
    succeed(response, { verification: await verifier.verify() });
  });
  return router;
}
