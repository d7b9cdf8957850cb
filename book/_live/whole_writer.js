// The writer's own page.

import { storedText } from "./stored.js";
import { writer } from "./writer.js";

for (const root of document.querySelectorAll("[data-live=writer]")) writer(root, storedText());
