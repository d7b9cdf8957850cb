// What a page loads when somebody comes near an editor: editors with their boxes, answers as notebooks, and Python.

import styles from "./editor.css";
import { cellBox } from "./cell_box.js";
import { warm } from "./engine.js";
import { notebook, save, taken, takeOver } from "./notebook.js";
import { task } from "./task.js";

const sheet = document.createElement("style");
sheet.textContent = styles;
document.head.append(sheet);

export { cellBox, notebook, save, taken, takeOver, task, warm };
