import { test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { kills, promise } from "./measure.js";
import { sharedCrash } from "./shared-crash.js";
import { directoryEngine, jetstreamEngine, kafkaEngine } from "./shared-engines.js";
import { mariadbStore, postgresqlStore } from "./shared-store.js";

const rounds = kills + 2;
/** The suite has each engine; what befalls the agents does not depend on it. */
const fewerRounds = Math.ceil(rounds / 2);
const befallen = (times: number) =>
  `three agents over one log, killed, frozen, cut off, restarted and reloaded ${times} times`;
const kept = `${promise}, in the order of its entity`;

test(`${befallen(rounds)}, in JetStream that is killed too: ${kept}`, async (context) => {
  const engine = await jetstreamEngine(context);
  if (engine === undefined) return context.skip("needs nats-server");
  const store = await postgresqlStore(context);
  if (store === undefined) return;

  await sharedCrash(context, { folder: await tempFolder(context), store, engine, rounds });
});

test(`${befallen(fewerRounds)}, in Kafka that is killed too: ${kept}`, async (context) => {
  const engine = await kafkaEngine(context);
  if (engine === undefined) return context.skip("needs Kafka");
  const store = await postgresqlStore(context);
  if (store === undefined) return;

  await sharedCrash(context, { folder: await tempFolder(context), store, engine, rounds: fewerRounds });
});

test(`${befallen(fewerRounds)}, in a directory by a plugin of somebody else: ${kept}`, async (context) => {
  const store = await postgresqlStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);

  await sharedCrash(context, { folder, store, engine: await directoryEngine(folder), rounds: fewerRounds });
});

test(`${befallen(fewerRounds)}, with a MariaDB that is killed too: ${kept}`, async (context) => {
  const store = await mariadbStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);
  const engine = (await jetstreamEngine(context)) ?? (await directoryEngine(folder));

  await sharedCrash(context, { folder, store, engine, rounds: fewerRounds });
});

test(`restarts and reloads of three agents under load: ${kept}`, async (context) => {
  const store = await postgresqlStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);
  const engine = (await jetstreamEngine(context)) ?? (await directoryEngine(folder));
  const only = ["agent restarted", "agent reloaded"];

  await sharedCrash(context, { folder, store, engine, rounds, only, hostileStore: false });
});
