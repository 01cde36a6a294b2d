import type { MatchingRows } from "../../contract/matching.js";
import type { KnownStore } from "../../tables/known-store.js";

/** Tables that are asked by one request. */
const TABLES_AT_ONCE = 100;

interface Asking {
  readonly store: KnownStore;
  readonly signal: AbortSignal;
}

/** Those of the tables that have such rows: of 100,000 that may hold an entity, one does. */
export async function* withRows<Rows extends MatchingRows>(all: readonly Rows[], asking: Asking): AsyncGenerator<Rows> {
  for (let start = 0; start < all.length; start += TABLES_AT_ONCE) {
    yield* await someWithRows(all.slice(start, start + TABLES_AT_ONCE), asking);
  }
}

/** Asked together; all of them if that fails. */
async function someWithRows<Rows extends MatchingRows>(
  tables: readonly Rows[],
  { store, signal }: Asking,
): Promise<readonly Rows[]> {
  const { dialect, driver } = store;
  const questions = tables.map((rows) => dialect.countMatching(rows, 1));
  // Answers of several databases may come in another order.
  if (new Set(tables.map(({ name }) => name.database)).size > 1) return tables;
  try {
    const answers = await driver.read(questions, signal);
    return tables.filter((_, index) => Number(answers[index]?.[0] ?? 0) > 0);
  } catch (error) {
    if (signal.aborted) throw error;
    return tables;
  }
}
