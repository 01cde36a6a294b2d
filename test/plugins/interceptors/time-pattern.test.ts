import assert from "node:assert/strict";
import { test } from "node:test";
import { RegexExtractorInterceptor } from "../../../plugins/interceptors/regex-interceptors.js";
import { TimePattern } from "../../../plugins/interceptors/serializers.js";

const local = (...parts: readonly [number, number, number, number, number, number?]) =>
  new Date(...parts).toISOString();

const cases = [
  { pattern: "yyyy-MM-dd HH:mm", text: "2012-03-04 05:06", time: local(2012, 2, 4, 5, 6) },
  {
    pattern: "yyyy-MM-dd HH:mm:ss,SSS",
    text: "2012-3-4 5:6:7,80",
    time: new Date(2012, 2, 4, 5, 6, 7, 800).toISOString(),
  },
  { pattern: "yyyyMMddHHmmssZ", text: "20120304050607+0200", time: "2012-03-04T03:06:07.000Z" },
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSSZZ", text: "2012-03-04T05:06:07.089-03:30", time: "2012-03-04T08:36:07.089Z" },
  { pattern: "yyyy-MM-dd'T'HH:mm:ssZ", text: "2012-03-04T05:06:07Z", time: "2012-03-04T05:06:07.000Z" },
  { pattern: "EEE, d MMM yyyy hh:mm a Z", text: "Sun, 4 Mar 2012 12:06 AM +0000", time: "2012-03-04T00:06:00.000Z" },
  { pattern: "dd/MMMM/yy h:mma Z", text: "04/march/12 1:06PM +0100", time: "2012-03-04T12:06:00.000Z" },
  { pattern: "yyyy 'o''clock' kk Z", text: "2012 o'clock 24 +0000", time: "2012-01-01T00:00:00.000Z" },
  { pattern: "yyyy.MM.dd Z", text: "2012-03-04 +0000", time: undefined },
  { pattern: "yyyy-MM-dd Z", text: "2013-02-29 +0000", time: undefined },
  { pattern: "yyyy-MM-dd HH:mm Z", text: "2013-02-28 24:00 +0000", time: undefined },
  { pattern: "yyyy MMM Z", text: "2013 Brumaire +0000", time: undefined },
  { pattern: "yyyy-MM-dd Z", text: "on 2013-02-28 +0000", time: undefined },
] as const;

for (const { pattern, text, time } of cases)
  test(`by the pattern ${pattern} the text ${text} is ${time ?? "no time"}`, () => {
    const millis = new TimePattern(pattern).millis(text);

    assert.equal(millis === undefined ? undefined : new Date(millis).toISOString(), time);
  });

const millisTypes = ["millis", "org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer"] as const;
for (const type of millisTypes)
  test(`regex_extractor with the serializer ${type} writes milliseconds, and nothing for what is no time`, () => {
    const settings = { "t.name": "timestamp", "t.type": type, "t.pattern": "yyyy-MM-dd Z", "k.name": "kind" };
    const interceptor = new RegexExtractorInterceptor({
      regex: '"when":"([^"]*) (\\w+)"',
      serializers: ["t", "k"],
      "serializers.*": settings,
    });
    const room = (when: string) => ({
      headers: { timestamp: "1" },
      body: {
        id: "r",
        type: "Room",
        attributes: [{ name: "when", form: "normalized", value: { kind: "string", text: when }, members: [] }],
      },
    });

    const headers = ["1970-01-02 +0000 day", "never day"].map((when) => interceptor.intercept(room(when)).headers);

    assert.deepEqual(headers, [
      { timestamp: "86400000", kind: "day" },
      { timestamp: "1", kind: "day" },
    ]);
  });
