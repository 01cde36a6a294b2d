import type { LoadResult } from "./load.js";

/** The result of a load where its figures do not matter. */
export const someLoad: LoadResult = {
  accepted: 1,
  refused: 0,
  failed: 0,
  unanswered: 0,
  startedAt: 0,
  seconds: 1,
  cores: 1,
  p50: 1,
  p99: 1,
  p999: 1,
};
