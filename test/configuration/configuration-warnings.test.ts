import assert from "node:assert/strict";
import { test } from "node:test";
import { faultTexts, good, more, read } from "../support/configuration.js";

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
    says: "a value in quotes",
    text: more('a1.sinks.s.rdb_host = "db"', "a1.sinks.s.rdb_password = 'db'", "a1.sinks.s.list = \u201ca b\u201d"),
    faults: [
      "warning line 10: a1.sinks.s.rdb_host: is in quotes, which are part of the value; remove them unless they are meant",
      "warning line 11: a1.sinks.s.rdb_password: is in quotes, which are part of the value; remove them unless they are meant",
      "warning line 12: a1.sinks.s.list: is in quotes, which are part of the value; remove them unless they are meant",
      'warning line 12: a1.sinks.s.list = "\u201ca b\u201d": is not a property of the sink "rdb" and has no effect',
    ],
  },
  {
    says: "a comment at the end of a line",
    text: more("a1.sinks.s.rdb_host = db # of the town"),
    faults: [
      'warning line 10: a1.sinks.s.rdb_host: holds "#", which begins no comment there and is part of the value; write comments on lines of their own',
    ],
  },
  {
    says: "a backslash that is left out",
    text: more("a1.sinks.s.rdb_password = pa\\ss", "a1.sinks.s.rdb_host = d\\\\b\\:\\u00e9"),
    faults: [
      "warning line 10: a1.sinks.s.rdb_password: holds a backslash that is left out, as in Java; write a backslash itself as \\\\",
    ],
  },
  {
    says: "a variable as a shell writes it",
    text: more("a1.sinks.s.rdb_password = $PASSWORD"),
    faults: [
      "warning line 10: a1.sinks.s.rdb_password: is the text itself, dollar sign included; an environment variable is written ${env:NAME}",
    ],
  },
  {
    says: "a character of Windows-1252",
    text: more("a1.sinks.s.rdb_password = 5\u0080"),
    faults: [
      "warning line 10: a1.sinks.s.rdb_password: holds a control character, as from a file in Windows-1252; save the file as UTF-8",
    ],
  },
  {
    says: "an interval of retries that is short for milliseconds",
    text: more("a1.sinks.s.batch_retry_intervals = 1 5"),
    faults: [
      'warning line 10: a1.sinks.s.batch_retry_intervals = "1 5": is in milliseconds; 5 seconds are written 5000',
    ],
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

const ofVariables = [
  {
    value: '"db"',
    faults: ["warning AGENT_RDB_HOST: is in quotes, which are part of the value; remove them unless they are meant"],
  },
  {
    value: "db\r",
    faults: [
      "warning AGENT_RDB_HOST: begins or ends with a blank or a line break, which is part of the value; remove it",
    ],
  },
  { value: 'a "db"', faults: [] },
  { value: '"a" or "b"', faults: [] },
] as const;
for (const { value, faults } of ofVariables)
  test(`a variable ${JSON.stringify(value)} has ${faults.length} warnings`, () => {
    const configuration = read(good, { env: { AGENT_RDB_HOST: value } });

    assert.deepEqual(faultTexts(configuration), faults);
    assert.notEqual(configuration.topology, undefined);
  });
