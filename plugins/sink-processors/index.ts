import { definePlugin } from "deneb/sdk";
import {
  checkDefault,
  checkFailover,
  checkLoadBalance,
  defaultSchema,
  failoverSchema,
  loadBalanceSchema,
} from "./config.js";
import { createDefaultProcessor, FailoverProcessor, LoadBalanceProcessor } from "./processors.js";

export default [
  definePlugin({
    kind: "sink-processor",
    type: "default",
    aliases: ["org.apache.flume.sink.DefaultSinkProcessor"],
    summary: "Hands every batch to the only sink of its group.",
    stability: "stable",
    config: defaultSchema,
    check: checkDefault,
    create: createDefaultProcessor,
  }),
  definePlugin({
    kind: "sink-processor",
    type: "failover",
    aliases: ["org.apache.flume.sink.FailoverSinkProcessor"],
    summary: "Hands every batch to the sink of the highest priority, and to the next one while that one fails.",
    stability: "stable",
    config: failoverSchema,
    check: checkFailover,
    create: (config, context) => new FailoverProcessor(config, context),
  }),
  definePlugin({
    kind: "sink-processor",
    type: "load_balance",
    aliases: ["org.apache.flume.sink.LoadBalancingSinkProcessor"],
    summary: "Spreads the batches over the sinks of its group, and passes over those that fail.",
    stability: "stable",
    config: loadBalanceSchema,
    check: checkLoadBalance,
    create: (config, context) => new LoadBalanceProcessor(config, context, Math.random),
  }),
] as const;
