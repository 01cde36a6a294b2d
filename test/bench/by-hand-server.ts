import express from "express";
import pg from "pg";

/** What a user would write by hand: express, a pool, one INSERT for each entity before the answer. */
const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? "{}"), max: 10 });
const tables = new Set<string>();
const app = express();
app.use(express.json({ type: "*/*", limit: "10mb" }));

app.post("/notify", async (request, response) => {
  for (const entity of request.body.data) {
    const table = `bench.${String(entity.id)
      .toLowerCase()
      .replace(/[^a-z0-9]/g, "_")}`;
    const names = Object.keys(entity).filter((name) => name !== "id" && name !== "type");
    if (!tables.has(table)) {
      await pool.query(
        `create table if not exists ${table} (recvtime text, entityid text, entitytype text, ${names.map((name) => `"${name}" text`).join(", ")})`,
      );
      tables.add(table);
    }
    const columns = ["recvtime", "entityid", "entitytype", ...names.map((name) => `"${name}"`)];
    const marks = columns.map((_, index) => `$${index + 1}`);
    const values = names.map((name) => text(entity[name].value ?? entity[name].object));
    await pool.query(`insert into ${table} (${columns.join(", ")}) values (${marks.join(", ")})`, [
      new Date().toISOString(),
      entity.id,
      entity.type,
      ...values,
    ]);
  }
  response.status(200).end();
});

await pool.query("create schema if not exists bench");
const server = app.listen(0, "127.0.0.1", () => {
  const address = server.address();
  console.log(typeof address === "object" && address !== null ? address.port : "");
});
process.on("SIGTERM", () => process.exit(0));

function text(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
