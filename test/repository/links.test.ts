import assert from "node:assert/strict";
import test from "node:test";
import { repositoryFiles, repositoryRoot } from "../support/repository.js";
import { brokenAnchors, brokenLinks } from "./page-links.js";

test("every link of a page to another file of the repository leads somewhere", async () => {
  assert.deepEqual(await brokenLinks(repositoryRoot, await repositoryFiles()), []);
});

test("every link to a heading of a page names one that the page has", async () => {
  assert.deepEqual(await brokenAnchors(repositoryRoot, await repositoryFiles()), []);
});
