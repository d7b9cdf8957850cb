// The translator's own page: the figure with all that can be looked at.

import { figure } from "./figure.js";

for (const root of document.querySelectorAll("[data-live=full]")) figure(root);
