import os from "node:os";
import { definePlugin } from "deneb/sdk";
import {
  checkHost,
  checkRegexExtractor,
  checkRegexFilter,
  checkRemoveHeader,
  checkSearchReplace,
  checkStatic,
} from "./checks.js";
import {
  hostSchema,
  regexExtractorSchema,
  regexFilterSchema,
  removeHeaderSchema,
  searchReplaceSchema,
  staticSchema,
} from "./config.js";
import { createStaticInterceptor, HostInterceptor, RemoveHeaderInterceptor } from "./header-interceptors.js";
import {
  createRegexFilterInterceptor,
  RegexExtractorInterceptor,
  SearchReplaceInterceptor,
} from "./regex-interceptors.js";

export default [
  definePlugin({
    kind: "interceptor",
    type: "host",
    aliases: ["org.apache.flume.interceptor.HostInterceptor$Builder"],
    summary: "Writes the address or the name of this machine into a header.",
    stability: "stable",
    config: hostSchema,
    check: checkHost,
    create: (config) => new HostInterceptor(config, os),
  }),
  definePlugin({
    kind: "interceptor",
    type: "static",
    aliases: ["org.apache.flume.interceptor.StaticInterceptor$Builder"],
    summary: "Writes a fixed text into a header.",
    stability: "stable",
    config: staticSchema,
    check: checkStatic,
    create: createStaticInterceptor,
  }),
  definePlugin({
    kind: "interceptor",
    type: "regex_filter",
    aliases: ["org.apache.flume.interceptor.RegexFilteringInterceptor$Builder"],
    summary: "Drops events by an expression that is looked for in their entity.",
    stability: "stable",
    config: regexFilterSchema,
    check: checkRegexFilter,
    create: createRegexFilterInterceptor,
  }),
  definePlugin({
    kind: "interceptor",
    type: "regex_extractor",
    aliases: ["org.apache.flume.interceptor.RegexExtractorInterceptor$Builder"],
    summary: "Writes parts of the entity, found by an expression, into headers.",
    stability: "stable",
    config: regexExtractorSchema,
    check: checkRegexExtractor,
    create: (config) => new RegexExtractorInterceptor(config),
  }),
  definePlugin({
    kind: "interceptor",
    type: "remove_header",
    aliases: ["org.apache.flume.interceptor.RemoveHeaderInterceptor$Builder"],
    summary: "Removes headers by name, from a list, or by an expression.",
    stability: "stable",
    config: removeHeaderSchema,
    check: checkRemoveHeader,
    create: (config) => new RemoveHeaderInterceptor(config),
  }),
  definePlugin({
    kind: "interceptor",
    type: "search_replace",
    aliases: ["org.apache.flume.interceptor.SearchAndReplaceInterceptor$Builder"],
    summary: "Rewrites the values of attributes by an expression.",
    stability: "stable",
    config: searchReplaceSchema,
    check: checkSearchReplace,
    create: (config) => new SearchReplaceInterceptor(config),
  }),
] as const;
