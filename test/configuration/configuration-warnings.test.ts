import assert from "node:assert/strict";
import { test } from "node:test";
import { faultTexts, more, read } from "../support/configuration.js";

const warnings = [
  {
    says: "an unknown key of a known component",
    text: more(
      "a1.sinks.s.batch_sise = 5",
      "a1.sources.http-source.notification_target = /x",
      "a1.channels.c.nothing = 1",
    ),
    faults: [
      'warning line 10: a1.sinks.s.batch_sise = "5": is not a property of the sink "rdb" and has no effect; did you mean "batch_size"?',
      'warning line 11: a1.sources.http-source.notification_target = "/x": is not a property of the source "http" and has no effect; did you mean "handler.notification_target"?',
      'warning line 12: a1.channels.c.nothing = "1": is not a property of the channel "memory" and has no effect',
    ],
  },
  {
    says: "an empty value where the default is another",
    text: more("a1.sinks.s.rdb_host =", "a1.sinks.s.rdb_password ="),
    faults: [
      "warning line 10: a1.sinks.s.rdb_host: is empty and counts as not given; give a value, or remove it for the default",
    ],
  },
  {
    says: "a deprecated property",
    text: more("a1.sinks.s.old_name = db"),
    faults: ['warning line 10: a1.sinks.s.old_name = "db": is deprecated: use rdb_host instead'],
  },
  {
    says: "a key given twice",
    text: more("a1.sinks.s.channel = c"),
    faults: ["warning line 10: a1.sinks.s.channel: is given on lines 9 and 10; the last one counts"],
  },
  {
    says: "settings of an undeclared component",
    text: more("a1.sinks.ss.backend.enable_cache = false"),
    faults: [
      'warning line 10: a1.sinks.ss: is not listed in a1.sinks, so its settings have no effect; did you mean "s"?',
    ],
  },
  {
    says: "a channel that nobody writes or reads",
    text: more("a1.channels.idle.type = memory").replace("channels = c\n", "channels = c idle\n"),
    faults: [
      "warning line 10: a1.channels.idle: is written by no source",
      "warning line 10: a1.channels.idle: is read by no sink: it fills up and stays full",
    ],
  },
] as const;
for (const { says, text, faults } of warnings) {
  test(`${says} is a warning and the agent can start`, () => {
    const configuration = read(text);

    assert.deepEqual(faultTexts(configuration), faults);
    assert.notEqual(configuration.topology, undefined);
  });
}
