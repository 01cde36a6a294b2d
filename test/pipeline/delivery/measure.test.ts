import assert from "node:assert/strict";
import { test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { observers, type WriteAttempt } from "../../../core/tokens.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

test("a write that is stored is not made again when a metric of it fails", async (context) => {
  const sink = new ScriptedSink();
  const seen: number[] = [];
  const attempted = ({ events }: WriteAttempt) => {
    seen.push(events.length);
    throw new Error("label evil is not known");
  };
  const deadLetters = new DeadLetters(await tempFolder(context));
  const observer = observers([{ attempted }]);
  const { chain, counters } = chainTo({ sink, deadLetters, log: recordingLog().log, observer });

  const settled = await deliver(chain, [
    { headers: {}, body: "a" },
    { headers: {}, body: "b" },
  ]);

  assert.deepEqual([settled, sink.writes.length, counters.persisted, seen], [true, 1, 2, [2]]);
});
