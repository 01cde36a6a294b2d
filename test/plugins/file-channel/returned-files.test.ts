import assert from "node:assert/strict";
import { mkdir, readdir, readFile, rename, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { drain, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { type OpenFile, openNewFile, type WritableFile } from "../../../plugins/file-channel/log/files.js";
import { positionOf } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { copyOf, dataFolder, openIn } from "./channel-folder.js";

/** Ten events in files of two, the first two committed. Its data folder is elsewhere, as on another disk. */
async function onAnotherDisk(context: TestContext, end: "closed" | "killed") {
  const root = await tempFolder(context);
  const live = path.join(root, "live");
  const { channel } = await openIn(live, { dataDirs: [path.join(live, "disk")], maxFileSize: 100 });
  for (const body of [0, 2, 4, 6, 8]) await put(channel, body, body + 1);
  await (await take(channel, 2)).transaction.commit();
  if (end === "closed") await channel.stop();
  const folder = await copyOf(live, path.join(root, "folder"));
  if (end === "killed") await channel.stop();
  const disk = path.join(folder, "disk");
  const open = (...dataDirs: readonly string[]) => openIn(folder, { dataDirs: [...dataDirs], maxFileSize: 100 });
  return { folder, disk, other: path.join(folder, "other"), open };
}

/** Starts a channel, takes everything that is in it and stops it. */
async function all({ channel, lines }: Awaited<ReturnType<typeof openIn>>) {
  const { lost } = channel;
  const bodies = await drain(channel, 100);
  await channel.stop();
  const back = lines.filter(({ message }) => message === "events that were missing are back");
  return { bodies, lost, back: back.reduce((sum, { fields }) => sum + Number(Reflect.get(fields, "events")), 0) };
}

for (const end of ["closed", "killed"] as const) {
  test(`events of a channel that was ${end}, whose folder is away at the next start, are delivered when it is back, once`, async (context) => {
    const { disk, other, open } = await onAnotherDisk(context, end);

    const without = await open(other);
    await put(without.channel, 20, 21);
    const meanwhile = await all(without);
    const back = await all(await open(disk));
    const then = await all(await open(disk));

    assert.deepEqual(meanwhile.bodies, [20, 21]);
    // After a kill the latest writes are not known.
    assert.ok(end === "closed" ? meanwhile.lost === 8 : meanwhile.lost > 0, String(meanwhile.lost));
    assert.deepEqual(back, { bodies: upTo(10).slice(2), lost: -8, back: 8 });
    assert.deepEqual(then, { bodies: [], lost: 0, back: 0 });
    assert.deepEqual(
      (await readdir(disk)).filter((name) => /^0+[1-9]\.log$/.test(name)),
      [],
    );
  });
}

test("what waits in either of two folders is delivered when both are back", async (context) => {
  const { disk, other, open } = await onAnotherDisk(context, "closed");
  const without = await open(other);
  await put(without.channel, 20, 21);
  await without.channel.stop();

  const first = await all(await open(disk));
  const both = await all(await open(disk, other));

  assert.deepEqual(first.bodies, upTo(10).slice(2));
  assert.equal(first.lost, 2 - 8);
  assert.deepEqual(both, { bodies: [20, 21], lost: -2, back: 2 });
});

test("a file that was moved away and is put back is delivered, and one that a position of before says is stored is not", async (context) => {
  const { disk, open } = await onAnotherDisk(context, "killed");
  const [, stored = "", waiting = ""] = (await readdir(disk)).filter((name) => name.endsWith(".log")).sort();
  const before = await open(disk);
  await (await take(before.channel, 2)).transaction.commit();
  // Stored with this position, and killed before the channel noted it.
  const { transaction } = await take(before.channel, 2);
  const position = positionOf(transaction) ?? "";
  await transaction.rollback();
  await before.channel.stop();
  for (const name of [stored, waiting]) await rename(path.join(disk, name), path.join(disk, `${name}.aside`));

  const without = await open(disk);
  await without.channel.skipTo(position);
  await put(without.channel, 20);
  const meanwhile = await take(without.channel, 2);
  await meanwhile.transaction.commit();
  const last = await take(without.channel, 2);
  const later = positionOf(last.transaction) ?? "";
  await last.transaction.commit();
  await without.channel.stop();
  for (const name of [stored, waiting]) await rename(path.join(disk, `${name}.aside`), path.join(disk, name));
  const back = await open(disk);
  await back.channel.skipTo(later);
  const { bodies } = await all(back);

  assert.deepEqual([...meanwhile.bodies, ...last.bodies], [8, 9, 20]);
  assert.deepEqual(bodies, [6, 7]);
});

test("a file that cannot be read at one start costs its events until the next one, and no others", async (context) => {
  const { disk, open } = await onAnotherDisk(context, "closed");
  const [, second = ""] = (await readdir(disk)).filter((name) => name.endsWith(".log")).sort();
  const file = path.join(disk, second);
  await rename(file, `${file}.aside`);
  await mkdir(file);

  const without = await open(disk);
  const told = without.lines.filter(({ level }) => level === "error").map(({ message }) => message);
  const others = await all(without);
  await rmdir(file);
  await rename(`${file}.aside`, file);
  const back = await all(await open(disk));

  assert.deepEqual(others, { bodies: [2, 3, 6, 7, 8, 9], lost: 2, back: 0 });
  assert.deepEqual(told, [
    "segment left alone: it cannot be read",
    "events are missing: their file was removed, cut or replaced",
  ]);
  assert.deepEqual(back, { bodies: [4, 5], lost: -2, back: 2 });
});

test("events that are back and find no room on the disk come at the next start", async (context) => {
  const { folder, disk, other, open } = await onAnotherDisk(context, "closed");
  await (await open(other)).channel.stop();

  const full = await openIn(folder, { dataDirs: [disk], maxFileSize: 100 }, async () => {
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  });
  await full.channel.stop();
  const back = await all(await open(disk));

  const told = full.lines.filter(({ message }) =>
    message.startsWith("events that were missing are back and cannot be"),
  );
  assert.deepEqual(
    told.map(({ level }) => level),
    ["error", "error", "error", "error"],
  );
  assert.deepEqual(back, { bodies: upTo(10).slice(2), lost: -8, back: 8 });
});

/** Copies of a folder as kills would leave it: one after each write of the start of its channel. */
async function killedAtWrites(folder: string, disk = "disk"): Promise<readonly string[]> {
  const copies: string[] = [];
  const openFile: OpenFile = async (file) => {
    const opened = await openNewFile(file);
    const write: WritableFile["write"] = async (...bytes) => {
      const written = await opened.write(...bytes);
      copies.push(await copyOf(folder, `${folder}-${copies.length}`));
      return written;
    };
    return { ...opened, write };
  };
  const { channel } = await openIn(folder, { dataDirs: [path.join(folder, disk)], maxFileSize: 100 }, openFile);
  const killed = [...copies];
  await channel.stop();
  return killed;
}

test("numbers under which events that are back could not be written are not missing after a kill in the middle of the next ones", async (context) => {
  const { folder, disk, other, open } = await onAnotherDisk(context, "closed");
  await all(await open(other));
  const killed = await tempFolder(context);
  let writes = 0;
  const { channel } = await openIn(folder, { dataDirs: [disk], maxFileSize: 100 }, async (file) => {
    const opened = await openNewFile(file);
    return {
      ...opened,
      write: async (...bytes) => {
        writes += 1;
        // Of each file the header, then two events.
        if (writes === 2) throw Object.assign(new Error("EIO: i/o error, write"), { code: "EIO" });
        const written = await opened.write(...bytes);
        if (writes === 4) await copyOf(folder, path.join(killed, "copy"));
        return written;
      },
    };
  });
  await channel.stop();

  const dataDirs = [path.join(killed, "copy", "disk")];
  const next = await openIn(path.join(killed, "copy"), { dataDirs, maxFileSize: 100 });
  const { bodies } = await all(next);

  assert.deepEqual(
    bodies.toSorted((one, other) => Number(one) - Number(other)),
    upTo(10).slice(2),
  );
  assert.deepEqual(
    next.lines.filter(({ message }) => message.startsWith("events are missing")),
    [],
  );
});

test("a start that is killed while it writes events that are back, and the next one too, leaves none out and writes none twice", async (context) => {
  const { folder, other, open } = await onAnotherDisk(context, "closed");
  await (await open(other)).channel.stop();

  const once = await killedAtWrites(await copyOf(folder, `${folder}-once`));
  const twice = await killedAtWrites(await copyOf(once[3] ?? "", `${folder}-twice`));

  assert.ok(once.length > 8 && twice.length > 4, `${once.length} ${twice.length}`);
  for (const copy of [...once, ...twice]) {
    const found = await all(await openIn(copy, { dataDirs: [path.join(copy, "disk")], maxFileSize: 100 }));
    assert.deepEqual({ bodies: found.bodies, lost: found.lost }, { bodies: upTo(10).slice(2), lost: -8 }, copy);
  }
});

test("a start that is killed while it writes events that are back writes none twice where the next one has a further folder", async (context) => {
  const { folder, disk, other, open } = await onAnotherDisk(context, "closed");
  const without = await open(other);
  for (const body of [20, 22, 24]) await put(without.channel, body, body + 1);
  await without.channel.stop();
  await (await open(path.join(folder, "third"))).channel.stop();

  const killed = await killedAtWrites(await copyOf(folder, `${folder}-killed`), "other");

  assert.ok(killed.length > 4, String(killed.length));
  for (const copy of killed) {
    const dataDirs = [path.basename(disk), path.basename(other)].map((name) => path.join(copy, name));
    const { bodies, lost } = await all(await openIn(copy, { dataDirs, maxFileSize: 100 }));
    const ordered = [...bodies].map(Number).sort((one, next) => one - next);
    assert.deepEqual({ ordered, lost }, { ordered: [...upTo(10).slice(2), ...upTo(26).slice(20)], lost: -14 }, copy);
  }
});

for (const fair_taking of [false, true])
  test(`events whose whole folder goes while the channel runs are not lost, and come when it is back${fair_taking ? ", with fair_taking" : ""}`, async (context) => {
    const folder = await tempFolder(context);
    const config = { maxFileSize: 100, fair_taking };
    const { channel } = await openIn(folder, config);
    for (const body of upTo(6)) await put(channel, body);
    await channel.stop();
    const again = await openIn(folder, config);
    await rename(dataFolder(folder), `${dataFolder(folder)}.away`);
    await mkdir(dataFolder(folder));

    await assert.rejects(again.channel.openTake().take(10, AbortSignal.timeout(5000)), { code: "CHANNEL_FOLDER_GONE" });
    await rename(`${dataFolder(folder)}.away`, dataFolder(folder));
    const bodies = await drain(again.channel, 100);
    await again.channel.stop();

    assert.deepEqual({ bodies, lost: again.channel.lost }, { bodies: upTo(6), lost: 0 });
  });

test("a checkpoint of which one half is zeros does not say that stored events are missing", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(path.join(folder, "live"), { maxFileSize: 100 });
  for (const body of [0, 2, 4, 6, 8]) await put(channel, body, body + 1);
  const copies: string[] = [];
  for (const _ of upTo(2)) {
    await (await take(channel, 4)).transaction.commit();
    copies.push(await copyOf(path.join(folder, "live"), path.join(folder, `killed-${copies.length}`)));
  }
  await channel.stop();

  for (const copy of copies)
    for (const half of [0, 1]) {
      const zeroed = await copyOf(copy, path.join(folder, `zeroed-${path.basename(copy)}-${half}`));
      const checkpoint = path.join(zeroed, "channels", "c1", "checkpoint", "checkpoint");
      await writeFile(checkpoint, (await readFile(checkpoint)).fill(0, half * 32_768, (half + 1) * 32_768));

      const { channel: again, lines } = await openIn(zeroed);
      const errors = lines.filter(({ level }) => level === "error");
      assert.deepEqual({ lost: again.lost, errors }, { lost: 0, errors: [] }, zeroed);
      await again.stop();
    }
});
