// The models in a page; the pages of their own have whole.js and whole_writer.js. Until a reader presses the button, or opens a link to a sentence, no model is loaded.

import { look } from "./look.js";
import { loss } from "./loss.js";
import { order } from "./order.js";
import { silence } from "./silence.js";

const FIGURES = { look, loss, order, silence };

for (const root of document.querySelectorAll("[data-live]")) FIGURES[root.dataset.live](root, root.dataset);
