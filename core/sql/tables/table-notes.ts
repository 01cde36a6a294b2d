import { nameLimits } from "../../ngsi/index.js";
import { faultOf } from "../contract/database-error.js";
import { plain } from "../contract/statement.js";
import type { Store } from "../contract/store.js";
import type { TableName } from "../contract/table-name.js";
import type { FittedRows } from "./fitting.js";
import type { KnownStore } from "./known-store.js";

// What `shorten` makes of a longer name ends in a hash. A full name that looks so gets a true note, too.
const SHORTENED = /_[0-9a-f]{8}$/;

/** Whether the name may have been shortened. */
export function isShortened({ table }: TableName, { dialect }: Pick<Store, "dialect">): boolean {
  // A name cut at a character boundary may lack up to three bytes.
  return table.length >= nameLimits[dialect.database].length - 3 && SHORTENED.test(table);
}

/** Notes in the store, where it can, which full id or type a table with a shortened name stands for. */
export async function writeNotes(
  created: readonly FittedRows[],
  store: KnownStore,
  signal: AbortSignal,
): Promise<void> {
  const { dialect, driver, log } = store;
  const shortened = created.filter(({ name }) => isShortened(name, store));
  const questions = dialect.noteTexts(shortened.map(({ name, subject }) => ({ name, text: subject })));
  if (questions.length === 0) return;
  try {
    const texts = await driver.read(questions, signal);
    await driver.write(
      texts.flatMap(([database = "", text]) => (text === undefined ? [] : plain({ database, schema: "" }, text))),
      signal,
    );
  } catch (error) {
    // The rows matter more than the note; the full id stands in them too.
    log.warn(
      { tables: shortened.length, reason: faultOf(error).message },
      "comments on shortened table names not written",
    );
  }
}
