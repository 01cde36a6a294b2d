import assert from "node:assert/strict";
import { test } from "node:test";
import { changed, faultTexts, more, read } from "../support/configuration.js";

const errors = [
  {
    says: "a key with too few parts",
    text: more("port = 1", "a1.sinks.s = rdb", "a1.sinks..type = rdb"),
    faults: [
      'error line 10: port = "1": has too few parts; write <agent>.<sources, channels or sinks>.<name>.<property>',
      'error line 11: a1.sinks.s = "rdb": has too few parts; write <agent>.<sources, channels or sinks>.<name>.<property>',
      'error line 12: a1.sinks..type = "rdb": has too few parts; write <agent>.<sources, channels or sinks>.<name>.<property>',
    ],
  },
  {
    says: "lines of an instance file of the original",
    text: more("CONFIG_FILE=/usr/cygnus/conf/agent_1.conf", "ADMIN_PORT=8081"),
    faults: [
      "error line 10: CONFIG_FILE: is a line of an instance file of the original, which is not read; give --config that file",
      "error line 11: ADMIN_PORT: is a line of an instance file of the original, which is not read; give it by --management-port",
    ],
  },
  {
    says: "an agent with a dot in its name",
    text: more("my.agent.sources = s", "my.agent.sinks.s.type = rdb", "my.agent.sinks.s.channel = c"),
    faults: [
      'error line 10: my.agent.sources: begins with "my.agent", which is no name of an agent: these hold no dots',
      'error line 11: my.agent.sinks.s.type: begins with "my.agent", which is no name of an agent: these hold no dots',
    ],
  },
  {
    says: "an expression in keys",
    text: more(
      "a1.sinks.${env:SINK:-t}.type = rdb",
      "a1.sinks.${env:SINK:-t}.channel = c",
      "a1.channels.${C}.type = x",
    ),
    faults: [
      'error line 11: a1.sinks.${env: holds "${" in its key; expressions are replaced in values only, so write the name itself',
      'error line 12: a1.channels.${C}: holds "${" in its key; expressions are replaced in values only, so write the name itself',
      "warning line 12: a1.channels.${C}: is not listed in a1.channels, so its settings have no effect",
    ],
  },
  {
    says: "an unknown section",
    text: more("a1.sinkz.t.type = rdb", "a1.sinkz.t.channel = c"),
    faults: [
      'error line 10: a1.sinkz.t.type: has the unknown section "sinkz"; the sections are sources, channels, sinks, sinkgroups; did you mean "sinks"?',
    ],
  },
  {
    says: "a number of workers that is none",
    text: more("a1.workers = 0"),
    faults: ['error line 10: a1.workers = "0": must be a whole number from 1 to 64'],
  },
  {
    says: "a misspelt property of the agent",
    text: more("a1.worker = 2"),
    faults: [
      'error line 10: a1.worker: has the unknown section "worker"; the sections are sources, channels, sinks, sinkgroups; did you mean "workers"?',
    ],
  },
  {
    says: "a section of a later version",
    text: more("a1.configfilters = f"),
    faults: [
      "error line 10: a1.configfilters: configuration filters are not supported by this version; use ${env:NAME}",
    ],
  },
  {
    says: "a declared component without settings, next to one that is not declared",
    text: more("a1.sinks.second.type = logger", "a1.sinks.second.channel = c").replace("sinks = s", "sinks = s secnd"),
    faults: [
      'error line 3: a1.sinks = "secnd": is listed but has no settings; give a1.sinks.secnd.type and what it needs; did you mean "second"?',
      'warning line 10: a1.sinks.second: is not listed in a1.sinks, so its settings have no effect; did you mean "secnd"?',
    ],
  },
  {
    says: "a declared sink group without settings",
    text: more("a1.sinkgroups = g"),
    faults: [
      'error line 10: a1.sinkgroups = "g": is listed but has no settings; give a1.sinkgroups.g.sinks and what it needs',
    ],
  },
  {
    says: "a component without type",
    text: changed("a1.sinks.s.type = rdb\n", ""),
    faults: ["error line 8: a1.sinks.s.type: must be given: the type of a sink; known: logger, rdb"],
  },
  ...["Type", "TYPE", "tpye", "type\\u200b"].map((written) => ({
    says: `a component whose type is given as ${written}`,
    text: changed("a1.sinks.s.type = rdb", `a1.sinks.s.${written} = rdb`),
    faults: [
      `error line 8: a1.sinks.s.type: must be given: the type of a sink; known: logger, rdb; "a1.sinks.s.${written}" is not read, write "type"`,
    ],
  })),
  {
    says: "an unknown type",
    text: changed("type = memory", "type = memry"),
    faults: [
      'error line 7: a1.channels.c.type = "memry": is no known type of channel; known: memory; did you mean "memory"?',
    ],
  },
  {
    says: "an unknown Java class name",
    text: changed("type = http", "type = com.other.HttpServletSource"),
    faults: [
      'error line 4: a1.sources.http-source.type = "com.other.HttpServletSource": is a Java class name that no source plugin accepts; known: http; did you mean "http"?',
    ],
  },
  {
    says: "a slot that is not filled",
    text: changed("a1.sources.http-source.handler = ngsi\n", ""),
    faults: ["error line 4: a1.sources.http-source.handler: must be given: the type of a handler; known: ngsi"],
  },
  {
    says: "a sink without channel",
    text: changed("a1.sinks.s.channel = c", ""),
    faults: [
      "error line 8: a1.sinks.s.channel: must be given: name of the channel the sink reads from; the channels are: c",
    ],
  },
  {
    says: "a sink with an undeclared channel",
    text: changed("sinks.s.channel = c", "sinks.s.channel = d"),
    faults: ['error line 9: a1.sinks.s.channel = "d": names no channel; the channels are: c; did you mean "c"?'],
  },
  {
    says: "a source without channels",
    text: changed("a1.sources.http-source.channels = c\n", ""),
    faults: [
      "error line 4: a1.sources.http-source.channels: must be given: names of the channels the source writes to, separated by blanks or commas; the channels are: c",
    ],
  },
  {
    says: "an undeclared channel and one named twice in the list of a source",
    text: changed("http-source.channels = c", "http-source.channels = c far-away c"),
    faults: [
      'error line 5: a1.sources.http-source.channels = "far-away": names no channel; the channels are: c',
      'error line 5: a1.sources.http-source.channels = "c": is named twice; name each channel once',
    ],
  },
  {
    says: "a component that is listed twice",
    text: changed("sinks = s", "sinks = s s"),
    faults: ['error line 3: a1.sinks = "s": is listed twice; name each component once'],
  },
  {
    says: "a name that is too long for a file",
    text: changed("sinks = s", `sinks = ${"温".repeat(27)}`).replaceAll("a1.sinks.s.", `a1.sinks.${"温".repeat(27)}.`),
    faults: [
      `error line 3: a1.sinks = "${"温".repeat(20)}...": is too long: files have this name, and in a URL it has 243 characters, of 240 at most; choose a shorter one`,
    ],
  },
  {
    says: "a name with half of a character, which no file can have",
    text: changed("sinks = s", "sinks = a\\ud83d").replaceAll("a1.sinks.s.", "a1.sinks.a\\ud83d."),
    faults: [
      'error line 3: a1.sinks = "a\ufffd": holds half of a character; correct what begins with \\u, or write the character',
    ],
  },
  {
    says: "an empty list and a missing one",
    text: changed("a1.sinks = s", "a1.sinks =").replace("a1.sources = http-source", ""),
    faults: [
      "error line 3: a1.sinks: must list the names of at least one component, for example a1.sinks = s",
      "warning line 4: a1.sources.http-source: is not listed in a1.sources, so its settings have no effect",
      "warning line 7: a1.channels.c: is written by no source",
      "warning line 7: a1.channels.c: is read by no sink: it fills up and stays full",
      "warning line 8: a1.sinks.s: is not listed in a1.sinks, so its settings have no effect",
      "error a1.sources: must list the names of at least one component, for example a1.sources = http-source",
    ],
  },
  {
    says: "a name with a dot",
    text: changed("sinks = s", "sinks = s s.2"),
    faults: ['error line 3: a1.sinks = "s.2": is not a name: names of components hold no dots'],
  },
  {
    says: "a batch that does not fit into a transaction of the channel",
    text: more("a1.sinks.s.batch_size = 101"),
    faults: [
      'error line 10: a1.sinks.s.batch_size = "101": is more than the transactionCapacity 100 of channel "c"; raise transactionCapacity or lower batch_size',
    ],
  },
  {
    says: "what the check of a plugin finds",
    text: more(
      "a1.channels.c.transactionCapacity = 200",
      "a1.sources.http-source.handler.notification_target = notify",
    ),
    faults: [
      'error line 10: a1.channels.c.transactionCapacity = "200": must not be more than capacity',
      'error line 11: a1.sources.http-source.handler.notification_target = "notify": must start with a slash, for example /notify',
    ],
  },
  {
    says: "several wrong values at once, in the order of the file",
    text: more(
      "a1.sinks.s.batch_size = abc",
      "a1.sinks.s.batch_ttl = -2",
      "a1.channels.c.capacity = 0",
      "a1.sinks.s.attr_persistence = colum",
      "a1.sources.http-source.port = 5050x",
      "a1.sinks.s.backend.enable_cache = True",
    ),
    faults: [
      'error line 10: a1.sinks.s.batch_size = "abc": must be a whole number, 1 or more',
      'error line 11: a1.sinks.s.batch_ttl = "-2": must be a whole number, -1 or more',
      'error line 12: a1.channels.c.capacity = "0": must be a whole number, 1 or more',
      'error line 13: a1.sinks.s.attr_persistence = "colum": must be one of: row, column; did you mean "column"?',
      'error line 14: a1.sources.http-source.port = "5050x": must be a whole number from 1 to 65535',
      'error line 15: a1.sinks.s.backend.enable_cache = "True": must be exactly true or false; did you mean "true"?',
    ],
  },
  {
    says: "an interceptor without settings, one of unknown type and a key without property",
    text: more(
      "a1.sources.http-source.interceptors = ts gone",
      "a1.sources.http-source.interceptors.ts.type = timestmp",
      "a1.sources.http-source.interceptors.gone = timestamp",
    ),
    faults: [
      'error line 10: a1.sources.http-source.interceptors = "gone": is listed but has no settings; give a1.sources.http-source.interceptors.gone.type and what it needs',
      'error line 11: a1.sources.http-source.interceptors.ts.type = "timestmp": is no known type of interceptor; known: timestamp; did you mean "timestamp"?',
      'error line 12: a1.sources.http-source.interceptors.gone = "timestamp": has too few parts; write interceptors.gone.<property>',
    ],
  },
  {
    says: "a selector without its map",
    text: more("a1.sources.http-source.selector.type = multiplexing"),
    faults: ["error line 10: a1.sources.http-source.selector.mapping: must be given: channels by value"],
  },
  {
    says: "a map given as a single value",
    text: more("a1.sources.http-source.selector.type = multiplexing", "a1.sources.http-source.selector.mapping = c"),
    faults: ["error line 11: a1.sources.http-source.selector.mapping: must be given as mapping.<name> = <value>"],
  },
  {
    says: "a variable that is not set, once and without faults that follow from it",
    text: changed("a1.sinks.s.channel = c", "a1.sinks.s.channel = ${env:CHANNEL}"),
    faults: [
      'error line 9: a1.sinks.s.channel = "${env:CHANNEL}": the environment variable "CHANNEL" is not set; set it, or give a default: ${env:CHANNEL:-default}',
    ],
  },
  {
    says: "a secret that is too long, masked",
    text: more("a1.sinks.s.rdb_password = 123456789012345678901", "a1.sinks.s.rdb_pasword = hidden"),
    faults: [
      'error line 10: a1.sinks.s.rdb_password = "***": must be at most 20 characters long, not 21',
      'warning line 11: a1.sinks.s.rdb_pasword = "***": is not a property of the sink "rdb" and has no effect; did you mean "rdb_password"?',
    ],
  },
] as const;
for (const { says, text, faults } of errors) {
  test(`${says} is reported and prevents a start`, () => {
    const configuration = read(text);

    assert.deepEqual(faultTexts(configuration), faults);
    assert.equal(configuration.topology, undefined);
  });
}
