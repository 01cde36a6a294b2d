import type { TableRows } from "./dialects/dialect.js";
import { faultOf } from "./faults.js";
import type { KnownStore } from "./known-store.js";
import { plain } from "./statement.js";

// What `shorten` makes of a longer name: 63 bytes that end in a hash. A full name that looks so gets a true note, too.
const SHORTENED = /^.{54}_[0-9a-f]{8}$/;

/** Notes in the store, where it can, which full id or type a table with a shortened name stands for. */
export async function writeNotes(created: readonly TableRows[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const { dialect, driver, log } = store;
  const shortened = created.filter(({ name }) => SHORTENED.test(name.table));
  const questions = dialect.noteTexts(shortened.map(({ name, subject }) => ({ name, text: subject })));
  if (questions.length === 0) return;
  try {
    const texts = await driver.read(questions, signal);
    await driver.write(
      texts.flatMap(([text]) => (text === undefined ? [] : plain("", text))),
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
