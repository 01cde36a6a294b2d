import { definePlugin } from "deneb/sdk";
import {
  checkMultiplexing,
  checkReplicating,
  checkRoundRobin,
  loadBalancingSchema,
  multiplexingSchema,
  replicatingSchema,
  roundRobinSchema,
} from "./config.js";
import {
  createReplicatingSelector,
  LoadBalancingSelector,
  MultiplexingSelector,
  RoundRobinSelector,
} from "./selectors.js";

export default [
  definePlugin({
    kind: "selector",
    type: "replicating",
    aliases: ["org.apache.flume.channel.ReplicatingChannelSelector"],
    summary: "Gives every event to every channel of the source.",
    stability: "stable",
    config: replicatingSchema,
    check: checkReplicating,
    create: createReplicatingSelector,
  }),
  definePlugin({
    kind: "selector",
    type: "multiplexing",
    aliases: ["org.apache.flume.channel.MultiplexingChannelSelector"],
    summary: "Chooses the channels of each event by the value of one of its headers, for example its service.",
    stability: "stable",
    config: multiplexingSchema,
    check: checkMultiplexing,
    create: (config) => new MultiplexingSelector(config),
  }),
  definePlugin({
    kind: "selector",
    type: "round_robin",
    aliases: ["com.telefonica.iot.cygnus.channelselectors.RoundRobinChannelSelector"],
    summary: "Gives every event to each storage once, its channels taking turns.",
    stability: "stable",
    config: roundRobinSchema,
    check: checkRoundRobin,
    create: (config) => new RoundRobinSelector(config),
  }),
  definePlugin({
    kind: "selector",
    type: "load_balancing",
    aliases: ["org.apache.flume.channel.LoadBalancingChannelSelector"],
    summary: "Gives every event to one channel of the source, in turn or at random.",
    stability: "stable",
    config: loadBalancingSchema,
    create: (config, { channels }) => new LoadBalancingSelector(config, channels, Math.random),
  }),
] as const;
