import assert from "node:assert/strict";
import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { editedFile, editedMemory } from "../../core/files/edited-text.js";
import { tempFolder } from "../support/temp-folder.js";

const appended = (addition: string) => (text: string | undefined) => {
  const result = `${text ?? ""}${addition}`;
  return { text: result, result };
};

test("a file that does not exist has no text and is created with its folder by an edit", async (context) => {
  const file = path.join(await tempFolder(context), "deep", "file");
  const text = editedFile(file);

  assert.equal(await text.read(), undefined);
  assert.equal(await text.edit(appended("a")), "a");
  assert.equal(await readFile(file, "utf8"), "a");
});

for (const [kind, open] of [
  ["file", async (folder: string) => editedFile(path.join(folder, "file"))],
  ["memory", async () => editedMemory()],
] as const)
  test(`edits of a text in a ${kind} at the same time lose nothing`, async (context) => {
    const text = await open(await tempFolder(context));

    await Promise.all(Array.from({ length: 20 }, (_, index) => text.edit(appended(`${index},`))));

    assert.deepEqual(
      (await text.read())
        ?.split(",")
        .filter((part) => part !== "")
        .map(Number),
      Array.from({ length: 20 }, (_, index) => index),
    );
  });

test("an edit that throws or gives no text writes nothing, and the next one goes on", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "file");
  await writeFile(file, "a");
  const text = editedFile(file);
  const { ino } = await stat(file);

  const failing = text.edit(() => {
    throw new Error("no");
  });
  await assert.rejects(failing, /no/);
  assert.equal(await text.edit(() => ({ result: 1 })), 1);

  assert.equal((await stat(file)).ino, ino);
  assert.equal(await text.edit(appended("b")), "ab");
  assert.deepEqual(await readdir(folder), ["file"]);
});

test("permissions are kept, and a symbolic link still points to the file", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "file");
  const link = path.join(folder, "link");
  await writeFile(file, "a");
  await chmod(file, 0o600);
  await symlink("file", link);

  await editedFile(link).edit(appended("b"));

  assert.equal(await readlink(link), "file");
  assert.equal(await readFile(file, "utf8"), "ab");
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a file that cannot be written is an error and leaves nothing behind", async (context) => {
  const folder = await tempFolder(context);
  await mkdir(path.join(folder, "file"));
  const text = editedFile(path.join(folder, "file", "..", "file"));

  await assert.rejects(() => text.edit(appended("b")), { code: "FILE_NOT_READ" });

  assert.deepEqual(await readdir(folder), ["file"]);
});
