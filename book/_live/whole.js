// The translator's own page: the figure with all that can be looked at.

import { figure } from "./figure.js";
import { machine } from "./machine.js";
import { stored } from "./stored.js";

for (const root of document.querySelectorAll("[data-live=full]")) figure(root, { machine, stored });
