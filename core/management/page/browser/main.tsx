import { render } from "preact";
import { App } from "./app.js";
import { showUnseen } from "./parts/show-unseen.js";

showUnseen();
const page = document.getElementById("page");
if (page !== null) render(<App />, page);
