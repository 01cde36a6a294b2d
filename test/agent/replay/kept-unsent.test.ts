import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsentLetters } from "../../../core/agent/replay/unsent-letters.js";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { tempFolder } from "../../support/temp-folder.js";

const letter = (id: string): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink: "k",
  reason: "permanent",
  message: "storing a value that never goes in",
  attempts: 1,
  event: { headers: {}, body: id },
});

test("letters that wait again, or are stored, are not looked at any more; one whose mark may be underway is", async (context) => {
  const letters = new DeadLetters(await tempFolder(context));
  context.after(() => letters.stop());
  await letters.keep(["marked", "stored", "waiting"].map(letter));
  await letters.markReplaying("k", ["marked", "stored"], () => true);
  await letters.mark("k", ["stored"], "stored");
  const unsent = new UnsentLetters(letters);

  unsent.note("k", [{ id: "marked" }, { id: "stored" }]);
  await unsent.takeBack("k");
  const left = [unsent.has("k")];
  unsent.note("k", [{ id: "waiting" }]);
  await unsent.takeBack("k");
  left.push(unsent.has("k"));
  await letters.markReplaying("k", ["waiting"], () => true);
  await unsent.takeBack("k");
  left.push(unsent.has("k"));

  assert.deepEqual(left, [false, true, false]);
  assert.equal((await letters.entry("k", "marked"))?.mark, "waiting");
  assert.equal((await letters.entry("k", "waiting"))?.mark, "waiting");
});
