// The translator in a page. Until a reader presses Translate, nothing is loaded.

import { figure } from "./figure.js";

for (const root of document.querySelectorAll("[data-live]")) figure(root, root.dataset.live === "full");
