import { type TestContext, test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { moreMishaps, promise } from "./measure.js";
import { sharedCrash } from "./shared-crash.js";
import { directoryEngine, jetstreamEngine, kafkaEngine, type SharedEngine } from "./shared-engines.js";
import { mariadbStore, postgresqlStore } from "./shared-store.js";

/** The suite has each engine; what befalls the agents does not depend on it. */
const fewer = Math.ceil(moreMishaps / 2);
const befallen = (first: readonly string[], more: number) =>
  `three agents over one log, ${first.join(", ")}${more > 0 ? `, and ${more} times more` : ""}`;
const kept = `${promise}, in the order of its entity`;

const inJetstream = ["NATS killed", "agent frozen", "agent cut off from the log", "agent killed and away"];
test(`${befallen(inJetstream, moreMishaps)}, in JetStream: ${kept}`, async (context) => {
  const engine = await jetstreamEngine(context);
  if (engine === undefined) return context.skip("needs nats-server");
  const store = await postgresqlStore(context);
  if (store === undefined) return;

  await sharedCrash(context, {
    folder: await tempFolder(context),
    store,
    engine,
    first: inJetstream,
    more: moreMishaps,
  });
});

const inKafka = ["Kafka killed", "Kafka frozen"];
test(`${befallen(inKafka, fewer)}, in Kafka: ${kept}`, async (context) => {
  const engine = await kafkaEngine(context);
  if (engine === undefined) return context.skip("needs Kafka");
  const store = await postgresqlStore(context);
  if (store === undefined) return;

  await sharedCrash(context, { folder: await tempFolder(context), store, engine, first: inKafka, more: fewer });
});

const inDirectory = ["agent cut off from the database"];
test(`${befallen(inDirectory, fewer)}, in a directory by a plugin of somebody else: ${kept}`, async (context) => {
  const store = await postgresqlStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);

  await sharedCrash(context, { folder, store, engine: await directoryEngine(folder), first: inDirectory, more: fewer });
});

const withMariadb = ["agent killed"];
test(`${befallen(withMariadb, fewer)}, with a MariaDB that is killed too: ${kept}`, async (context) => {
  const store = await mariadbStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);
  const engine = (await jetstreamEngine(context)) ?? (await directoryEngine(folder));

  await sharedCrash(context, { folder, store, engine, first: withMariadb, more: fewer });
});

const inPeace = ["agent restarted", "agent reloaded"];
test(`${befallen(inPeace, moreMishaps)}, under load: ${kept}`, async (context) => {
  const store = await postgresqlStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);
  const engine = (await jetstreamEngine(context)) ?? (await directoryEngine(folder));

  await sharedCrash(context, {
    folder,
    store,
    engine,
    first: inPeace,
    more: moreMishaps,
    only: inPeace,
    hostileStore: false,
  });
});

const withLetters = ["database away", "commit not answered"];
const replayed = (engine: string) =>
  `${befallen(withLetters, moreMishaps)}, in ${engine}, with dead letters that are replayed: ${promise}`;
test(replayed("JetStream"), async (context) => {
  const engine = await jetstreamEngine(context);
  if (engine === undefined) return context.skip("needs nats-server");
  await crashWithLetters(context, engine);
});

// The short form would add nothing but the time that a Kafka takes to start.
if (moreMishaps > 0)
  test(replayed("Kafka"), async (context) => {
    const engine = await kafkaEngine(context);
    if (engine === undefined) return context.skip("needs Kafka");
    await crashWithLetters(context, engine);
  });

async function crashWithLetters(context: TestContext, engine: SharedEngine): Promise<void> {
  const store = await postgresqlStore(context);
  if (store === undefined) return;
  const folder = await tempFolder(context);
  await sharedCrash(context, { folder, store, engine, first: withLetters, more: moreMishaps, retries: 3 });
}
