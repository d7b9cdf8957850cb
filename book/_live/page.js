// The models in a page. Until a reader presses the button, nothing is loaded.

import { figure } from "./figure.js";
import { writer } from "./writer.js";

for (const root of document.querySelectorAll("[data-live]")) {
  if (root.dataset.live === "writer") writer(root);
  else figure(root, root.dataset.live === "full");
}
