// The models in a page; the translator's own has whole.js. Until a reader presses the button, or opens a link to a sentence, no model is loaded.

import { figure } from "./figure.js";
import { look } from "./look.js";
import { loss } from "./loss.js";
import { order } from "./order.js";
import { silence } from "./silence.js";
import { writer } from "./writer.js";

const FIGURES = { small: (root) => figure(root), look, loss, order, silence, writer };

for (const root of document.querySelectorAll("[data-live]")) FIGURES[root.dataset.live](root, root.dataset);
