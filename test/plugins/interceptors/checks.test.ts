import assert from "node:assert/strict";
import { test } from "node:test";
import {
  checkHost,
  checkRegexExtractor,
  checkRegexFilter,
  checkRemoveHeader,
  checkSearchReplace,
  checkStatic,
} from "../../../plugins/interceptors/checks.js";

const removal = { withName: "", fromList: "", fromListSeparator: ",", matching: "" };
const replacement = { searchPattern: "(a)", replaceString: "$1", charset: "UTF-8" } as const;
const extraction = { regex: "(a)(b)", serializers: ["x"], "serializers.*": { "x.name": "h" } };

const cases = [
  {
    says: "host without header",
    faults: checkHost({ hostHeader: "", useIP: true, preserveExisting: true }),
    at: ["hostHeader"],
  },
  { says: "static without header", faults: checkStatic({ key: "", value: "", preserveExisting: true }), at: ["key"] },
  {
    says: "regex_filter with an open group",
    faults: checkRegexFilter({ regex: "(", excludeEvents: true }),
    at: ["regex"],
  },
  { says: "remove_header that removes nothing", faults: checkRemoveHeader(removal), at: ["withName"] },
  {
    says: "remove_header with two broken expressions",
    faults: checkRemoveHeader({ ...removal, matching: "(", fromListSeparator: "[" }),
    at: ["fromListSeparator", "matching"],
  },
  { says: "search_replace as it should be", faults: checkSearchReplace(replacement), at: [] },
  {
    says: "search_replace with a lookahead",
    faults: checkSearchReplace({ ...replacement, searchPattern: "(?=a)" }),
    at: ["searchPattern"],
  },
  {
    says: "search_replace with a group that is not there",
    faults: checkSearchReplace({ ...replacement, replaceString: "$2" }),
    at: ["replaceString"],
  },
  { says: "regex_extractor as it should be", faults: checkRegexExtractor(extraction), at: [] },
  {
    says: "regex_extractor with more serializers than groups, one of them without header",
    faults: checkRegexExtractor({ ...extraction, serializers: ["x", "y", "z"] }),
    at: ["serializers", "serializers.y.name", "serializers.z.name"],
  },
  {
    says: "regex_extractor without serializers",
    faults: checkRegexExtractor({ ...extraction, serializers: [], "serializers.*": {} }),
    at: ["serializers"],
  },
  {
    says: "regex_extractor with another type, an unknown setting and a serializer that is not listed",
    faults: checkRegexExtractor({
      ...extraction,
      "serializers.*": { "x.name": "h", "x.type": "seconds", "x.unit": "p", "y.name": "i" },
    }),
    at: ["serializers.x.type", "serializers.x.unit", "serializers.y.name"],
  },
  {
    says: "regex_extractor with a millis serializer without a pattern",
    faults: checkRegexExtractor({ ...extraction, "serializers.*": { "x.name": "h", "x.type": "millis" } }),
    at: ["serializers.x.pattern"],
  },
  ...["yyyy-QQ", "yyyy 'open", "HH:mm"].map((pattern) => ({
    says: `regex_extractor with the pattern ${pattern}`,
    faults: checkRegexExtractor({
      ...extraction,
      "serializers.*": { "x.name": "h", "x.type": "millis", "x.pattern": pattern },
    }),
    at: ["serializers.x.pattern"],
  })),
] as const;
for (const { says, faults, at } of cases)
  test(`${says} has ${at.length === 0 ? "no fault" : `faults at ${at.join(", ")}`}`, () => {
    assert.deepEqual(
      faults.map(({ property }) => property),
      at,
    );
  });
